"""A PostgreSQL and servers of their own, for packaging/test-upgrade, packaging/test-restore and ops/rehearse."""
import http.client, json, os, pathlib, shutil, signal, socket, subprocess, sys, time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Postgres:
    """A PostgreSQL of its own in a temporary folder."""

    def __init__(self, folder, name="postgres"):
        found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        if not found:
            sys.exit("needs PostgreSQL; apt-get install postgresql")
        self.bin, self.data, self.port = found[-1].parent, folder / name, free_port()
        self.as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        self.data.mkdir()
        if self.as_user:
            shutil.chown(self.data, "postgres")
            os.chmod(folder, 0o755)
        self.run("initdb", "-D", self.data, "-U", "keeper", "--auth=trust", "-E", "UTF8", "--no-sync")
        self.start()
        self.run("createdb", "-h", "127.0.0.1", "-p", self.port, "-U", "keeper", "keeper")

    def run(self, program, *args):
        subprocess.run([*self.as_user, str(self.bin / program), *map(str, args)], check=True, stdout=subprocess.DEVNULL, cwd="/")

    def start(self):
        self.run("pg_ctl", "-D", self.data, "-w", "-l", self.data / "log", "-o",
                 f"-p {self.port} -c listen_addresses=127.0.0.1 -k {self.data}", "start")

    def stop(self):
        self.run("pg_ctl", "-D", self.data, "-m", "immediate", "stop")


class Server:
    def __init__(self, program, postgres, folder, name, config=""):
        self.program, self.postgres, self.folder, self.name, self.port = program, postgres, folder, name, free_port()
        self.config = folder / f"{name}.yaml"
        self.config.write_text(config)

    def start(self, program=None):
        self.program = program or self.program
        log = open(self.folder / f"{self.name}.log", "ab")
        environment = dict(os.environ, KEEPER_STORE_URL=f"jdbc:postgresql://127.0.0.1:{self.postgres.port}/keeper", KEEPER_STORE_USER="keeper",
                           KEEPER_SERVER_PORT=str(self.port), KEEPER_STORE_POOL_SIZE="8", KEEPER_JAVA_OPTS="-Xmx256m")
        self.process = subprocess.Popen([self.program, "serve", "--config", str(self.config)], stdout=log, stderr=log, env=environment, cwd=self.folder)
        end = time.monotonic() + 120
        while time.monotonic() < end:
            try:
                if call(self.port, "GET", "/health/ready")[0] == 200:
                    return
            except OSError:
                pass
            if self.process.poll() is not None:
                sys.exit(f"{self.name} ended: {(self.folder / (self.name + '.log')).read_text()[-2000:]}")
            time.sleep(0.2)
        sys.exit(f"{self.name} is not ready after two minutes")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(90)


def call(port, method, path, body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json", **(headers or {})})
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text and answer.getheader("Content-Type", "").find("json") >= 0 else text
    finally:
        connection.close()
