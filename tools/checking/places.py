"""Where the programs and files are that the check needs: in a build tree, or in a bundle."""

import os
import pathlib


class Places:
    """`program(name)` and the folders `pipelines`, `scripts` and `references`. Built from a build
    folder of the source tree, or from the folder of an unpacked bundle."""

    def __init__(self, here, build=None):
        here = pathlib.Path(here)
        self.bundle = (here / "bin" / "graphline").exists() and not build
        if self.bundle:
            self.root, folders = here, [here / "bin"]
            self.pipelines, self.scripts = here / "pipelines", here / "bench"
            self.references = here / "references"
        else:
            source = here.parent
            self.root = pathlib.Path(build) if build else newest_build(source / "build")
            self.pipelines, self.scripts = source / "pipelines", source / "tests" / "bench"
            self.references = source / "tests" / "stages" / "references"
            folders = [self.root / "bin"] if self.root else []
            if self.root:
                folders += [p for p in sorted((self.root / "tests").glob("**")) if p.is_dir()
                            and "CMakeFiles" not in p.parts]
        self._folders = folders

    def program(self, name):
        """Its path, or None."""
        for folder in self._folders:
            path = folder / name
            if path.is_file() and os.access(path, os.X_OK):
                return path
        return None

    def lacks(self, name):
        """That it has no such program, and how to get it."""
        how = "" if self.bundle else f"; 'cmake --build --preset test --target {name}' builds it"
        return f"{name} is not in {self.root}{how}"


def newest_build(folder):
    """That of build/release and build/test whose graphline was built last, or None."""
    programs = [path for path in (folder / "release" / "bin" / "graphline",
                                  folder / "test" / "bin" / "graphline") if path.exists()]
    newest = max(programs, key=lambda path: path.stat().st_mtime, default=None)
    return newest.parent.parent if newest else None
