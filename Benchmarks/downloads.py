"""Downloads beside those of curl, aria2c, yt-dlp, streamlink and ffmpeg: wall time, processor time and memory.

The ratios are to the wall time of curl followed by sync, and to the processor time of curl.

The streams are those that the field's figures were taken with: 2.07 GB in 200 segments, as it comes and with 20 ms before
each response, and 3,001 segments of 18 KB with 20 ms. A segment is a short MPEG-2 transport stream and null packets with
random bytes, so that ffmpeg can read it. ffmpeg loads one segment after the other and leaves null packets out of its output.
What a tool writes is counted, so that none wins by leaving out.

usage: downloads.py MILLSTREAM FETCHBENCHMARK ROUNDS [TOOLS]

TOOLS are the names of some of the tools, separated by semicolons; "curl" and "curl, sync" have to be among them. A round of all
tools writes 30 GB. The time that a virtual machine takes to write to new memory varies by a factor of two, so that figures need
several rounds.
"transport" is raw fetching to disk, "millstream" the whole download with its catalogue.
"""

import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

NGINX = """
load_module /usr/lib/nginx/modules/ndk_http_module.so;
load_module /usr/lib/nginx/modules/ngx_http_lua_module.so;
worker_processes 1; daemon off; pid {root}/nginx.pid; error_log {root}/error.log;
events {{ worker_connections 512; }}
http {{
    access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000;
    types {{ video/mp2t ts; application/vnd.apple.mpegurl m3u8; }}
    client_body_temp_path {root}/t1; proxy_temp_path {root}/t2; fastcgi_temp_path {root}/t3;
    uwsgi_temp_path {root}/t4; scgi_temp_path {root}/t5;
    server {{
        listen 127.0.0.1:{port}; root {root}/www;
        location /slow/ {{ access_by_lua_block {{ ngx.sleep(0.02) }} alias {root}/www/; }}
    }}
}}
"""
PORT = 9317
BASE = f"http://127.0.0.1:{PORT}"
STREAMS = [
    ("2.07 GB in 200 segments", "large", 200),
    ("the same, 20 ms a response", "slow/large", 200),
    ("3,001 of 18 KB, 20 ms", "slow/small", 3001),
]


PACKET = 188
# A packet of the PID of null packets, 0x1FFF (ISO/IEC 13818-1, 2.4.3.3).
NULL_HEADER = bytes([0x47, 0x1F, 0xFF, 0x10])


def picture():
    """A transport stream with one picture."""
    return subprocess.run(
        ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "color=black:s=64x64:r=1:d=1", "-c:v", "libx264", "-f", "mpegts",
         "-"], stdout=subprocess.PIPE, check=True).stdout


def make_stream(folder, count, size, duration):
    os.makedirs(folder)
    first = picture()
    packets = (1 << 20) // PACKET
    noise = b"".join(NULL_HEADER + os.urandom(PACKET - len(NULL_HEADER)) for _ in range(packets))
    for index in range(count):
        with open(f"{folder}/{index}.ts", "wb") as file:
            # No two segments are equal: those would be stored once.
            head = first + NULL_HEADER + index.to_bytes(PACKET - len(NULL_HEADER), "big")
            file.write(head)
            left = size - len(head)
            while left >= PACKET:
                part = noise[: min(len(noise), left // PACKET * PACKET)]
                file.write(part)
                left -= len(part)
    with open(f"{folder}/media.m3u8", "w") as file:
        file.write(f"#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:{duration}\n#EXT-X-PLAYLIST-TYPE:VOD\n")
        for index in range(count):
            file.write(f"#EXTINF:{duration},\n{index}.ts\n")
        file.write("#EXT-X-ENDLIST\n")


def commands(program, fetcher, path, count, root):
    addresses = [(f"{BASE}/{path}/{index}.ts", f"{index}.ts") for index in range(count)]
    with open(f"{root}/curl.config", "w") as file:
        file.writelines(f"url={address}\noutput={name}\n" for address, name in addresses)
    with open(f"{root}/aria2c.list", "w") as file:
        file.writelines(f"{address}\n" for address, _ in addresses)
    with open(f"{root}/fetch.list", "w") as file:
        file.writelines(f"{address}\t{name}\n" for address, name in addresses)
    playlist = f"{BASE}/{path}/media.m3u8"
    return {
        "curl": ["curl", "-s", "--parallel", "--parallel-max", "8", "-K", f"{root}/curl.config"],
        # What millstream stores is on the disk when it ends.
        "curl, sync": ["sh", "-c", f"curl -s --parallel --parallel-max 8 -K {root}/curl.config && sync"],
        "aria2c": ["aria2c", "-q", "-j8", "--file-allocation=none", "-i", f"{root}/aria2c.list"],
        "yt-dlp": ["yt-dlp", "-q", "-N", "8", "--no-part", "--hls-prefer-native", "--fixup", "never", "-o", "all.mp4",
                   playlist],
        "streamlink": ["streamlink", "--loglevel", "none", "--stream-segment-threads", "8", "-o", "all.ts", f"hls://{playlist}", "best"],
        "ffmpeg": ["ffmpeg", "-v", "quiet", "-i", playlist, "-c", "copy", "-f", "mpegts", "all.ts"],
        "transport": [fetcher, f"{root}/fetch.list"],
        "millstream": [program, "download", playlist, "--library", "library", "--jobs", "8", "--quiet"],
    }


def run(command, folder):
    """Wall seconds, processor seconds, MiB resident, bytes written."""
    os.makedirs(folder)
    begun = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - begun
    if status != 0:
        sys.exit(f"{command[0]} failed with status {status}")
    size = sum(os.path.getsize(os.path.join(place, name)) for place, _, names in os.walk(folder) for name in names)
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, size


def measure(program, fetcher, rounds, names, root):
    for title, path, count in STREAMS:
        tools = commands(program, fetcher, path, count, root)
        if names:
            tools = {name: tools[name] for name in names}
        results = {name: [] for name in tools}
        for round_number in range(rounds):
            for name, command in tools.items():
                results[name].append(run(command, f"{root}/out/{name}{round_number}"))
        # Files that were just deleted make ext4 slow to make new ones: that shall not hit whoever comes next.
        shutil.rmtree(f"{root}/out")
        os.sync()
        time.sleep(7)
        medians = {name: [statistics.median(run[i] for run in runs) for i in range(4)] for name, runs in results.items()}
        print(f"\n{title}\n{'':12}{'wall':>10}{'':>8}{'cpu':>10}{'':>8}{'resident':>12}{'written':>12}")
        for name, (wall, processor, resident, size) in medians.items():
            curl_wall, curl_processor = medians["curl, sync"][0], medians["curl"][1]
            print(f"{name:12}{wall:8.2f} s{wall / curl_wall:7.2f}x{processor:8.2f} s{processor / curl_processor:7.2f}x"
                  f"{resident:8.1f} MiB{size / 1e6:9.1f} MB")


def main():
    program, fetcher, rounds = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3])
    names = sys.argv[4].split(";") if len(sys.argv) > 4 else []
    root = tempfile.mkdtemp(prefix="millstream-downloads-")
    server = None
    try:
        make_stream(f"{root}/www/large", 200, 10_350_000, 10)
        make_stream(f"{root}/www/small", 3001, 18_000, 2)
        # The workers of a server that root starts belong to another user.
        os.chmod(root, 0o755)
        with open(f"{root}/nginx.conf", "w") as file:
            file.write(NGINX.format(root=root, port=PORT))
        server = subprocess.Popen(["nginx", "-c", f"{root}/nginx.conf", "-p", root], stderr=subprocess.DEVNULL)
        time.sleep(1)
        if server.poll() is not None:
            sys.exit(f"nginx did not start: is port {PORT} taken?")
        measure(program, fetcher, rounds, names, root)
    finally:
        if server and server.poll() is None:
            server.send_signal(signal.SIGTERM)
            server.wait()
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
