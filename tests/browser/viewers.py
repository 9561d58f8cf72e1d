"""The viewers that traces are for, in a headless browser: what each makes of a trace.

tools/setup/trace_viewers brings them. They are served from this machine and ask for nothing beyond
it.
"""

import http.server
import pathlib
import threading
import time

# Rows of a query as lists; numbers beyond 2^53 would not come out exact.
QUERY = """
const [sql, done] = arguments;
const plain = (value) => typeof value === "bigint" ? Number(value) : value;
app.trace.engine.query(sql).then((result) => {
  const columns = result.columns();
  const rows = [];
  for (const row = result.iter({}); row.valid(); row.next())
    rows.push(columns.map((column) => plain(row.get(column))));
  done(rows);
}).catch((error) => done(String(error)));
"""

# Chrome's importer of traces, with what it has to say about one.
IMPORT = """
const [address, done] = arguments;
fetch(address).then((answer) => answer.text()).then((text) => {
  const model = new tr.Model();
  new tr.importer.Import(model).importTraces([text]);
  const slices = [];
  const names = [];
  let waits = 0;
  for (const process of model.getAllProcesses()) {
    names.push([process.pid, process.name]);
    for (const thread of Object.values(process.threads)) {
      names.push([thread.tid, thread.name]);
      for (const slice of thread.sliceGroup.slices)
        slices.push([process.pid, thread.tid, slice.title, slice.args.frame]);
      waits += thread.asyncSliceGroup.slices.length;
    }
  }
  done({slices, names, waits,
        instants: model.instantEvents.length
          + model.getAllProcesses().reduce((sum, p) => sum + p.instantEvents.length, 0),
        arrows: model.flowEvents.map((arrow) => Boolean(arrow.startSlice && arrow.endSlice)),
        warnings: model.importWarnings.map((warning) => warning.message),
        metadata: model.metadata.map((entry) => entry.value)});
}).catch((error) => done(String(error)));
"""


class Server:
    """Files of some folders, each under a name of its own."""

    def __init__(self, **folders):
        class Handler(http.server.SimpleHTTPRequestHandler):
            def translate_path(self, path):
                folder, _, rest = path.lstrip("/").partition("?")[0].partition("/")
                root = pathlib.Path(folders.get(folder, "/nowhere"))
                return str(root / rest) if ".." not in rest else "/nowhere"

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Perfetto:
    """Its user interface, whose engine answers SQL."""

    def __init__(self, browser, server):
        self.browser = browser
        self.server = server
        browser.command("Network.enable")
        browser.command("Network.setBlockedURLs", urls=["https://*"])

    def load(self, name, patience=60):
        driver = self.browser.driver
        # A page of its own for each: from one to the next only what comes after # would change.
        driver.get(f"{self.server.address}/viewers/index.html?{name}"
                   f"#!/?url={self.server.address}/traces/{name}")
        until = time.monotonic() + patience
        while not self.browser.run("return typeof app !== 'undefined' && Boolean(app.trace)"):
            if time.monotonic() > until:
                raise AssertionError(f"Perfetto has not opened {name} after {patience} s")
            time.sleep(0.1)

    def query(self, sql):
        rows = self.browser.driver.execute_async_script(QUERY, sql)
        if isinstance(rows, str):
            raise AssertionError(f"{rows}\n{sql}")
        return rows


class ChromeTracing:
    """The viewer of chrome://tracing."""

    def __init__(self, browser, server, folder):
        self.browser = browser
        self.server = server
        page, = pathlib.Path(folder).glob("v*/assets/catapult_trace_viewer.html")
        browser.driver.get(f"{server.address}/viewers/{page.relative_to(folder)}")

    def load(self, name):
        found = self.browser.driver.execute_async_script(
            IMPORT, f"{self.server.address}/traces/{name}")
        if isinstance(found, str):
            raise AssertionError(f"{name}: {found}")
        return found
