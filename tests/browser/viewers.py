"""The viewer that traces are for, in a headless browser: what it makes of a trace.

tools/setup/trace_viewers brings it. It is served from this machine and asks for nothing beyond it.
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
