"""The parts that the measurements of servers share: ports, nginx, the CPU time of processes, and the figures of wrk."""

import os
import re
import signal
import socket
import subprocess


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def cpu_seconds(*pids):
    """The CPU time of processes together."""
    total = 0
    for pid in pids:
        fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def request_count(output):
    """The number of requests that wrk has sent."""
    return int(re.search(r"(\d+) requests in", output).group(1))


def latency(output, percentile):
    """A percentile of the latency in milliseconds that wrk has measured."""
    value, unit = re.search(rf"{percentile}%\s+([\d.]+)(us|ms|s)", output).groups()
    return float(value) * {"us": 0.001, "ms": 1, "s": 1000}[unit]


def start_nginx(folder, servers, options=""):
    """Starts an nginx with one worker, whose files are in a folder."""
    with open(f"{folder}/nginx.conf", "w") as output:
        output.write(f"""
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    types {{ application/vnd.apple.mpegurl m3u8; }}
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    {options}
    {servers}
}}
""")
    return subprocess.Popen(["nginx", "-c", f"{folder}/nginx.conf", "-g", "daemon off;"])


def stop(processes):
    for process in processes:
        process.send_signal(signal.SIGTERM)
    for process in processes:
        process.wait()
