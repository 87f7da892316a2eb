"""A server for what changes while the players run: the page in which Chromium plays, and live DASH manifests."""

import http.client
import http.server
import threading
import time
import urllib.parse

# The picture of a video is drawn as one row of two samples for each cell of its strip.
PAGE = b"""<!DOCTYPE html><title>Frames</title><video muted playsinline crossorigin="anonymous"></video><script>
const query = new URLSearchParams(location.search), video = document.querySelector("video")
const canvas = document.createElement("canvas")
canvas.width = 40
canvas.height = 24
const context = canvas.getContext("2d", {willReadFrequently: true}), rows = []
context.imageSmoothingQuality = "high"
function draw() {
  context.drawImage(video, 0, 0, 40, 24)
  const pixels = context.getImageData(0, 0, 40, 1).data
  for (let x = 0; x < 40; x += 1) rows.push(pixels[4 * x + 1])
  video.requestVideoFrameCallback(draw)
}
let isSent = false
async function send() {
  if (isSent) return
  isSent = true
  await fetch("/pictures?key=" + query.get("key"), {method: "POST", body: new Uint8Array(rows)})
}
video.requestVideoFrameCallback(draw)
video.onended = send
video.onerror = send
setTimeout(send, query.get("limit") * 1000)
video.src = query.get("url")
video.play().catch(send)
</script>"""


class PageServer:
    def __init__(self, media, port):
        """Creates a server of live manifests of the segments below a URL, those of the sample with a segment timeline.

        All other requests go to a port of this machine: the page may load private streams only from its own origin.
        """
        self.media = media
        self.lock = threading.Lock()
        self.received = {}
        self.starts = {}
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def respond(self, body, kind):
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Cache-Control", "no-store")
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                path = urllib.parse.urlsplit(self.path).path
                if path == "/page":
                    self.respond(PAGE, "text/html")
                elif path.startswith("/live/") and path.endswith(".m3u8"):
                    self.respond(owner.playlist(path).encode(), "application/vnd.apple.mpegurl")
                elif path.startswith("/live/"):
                    self.respond(owner.manifest(path).encode(), "application/dash+xml")
                else:
                    self.forward()

            def forward(self):
                headers = {name: self.headers[name] for name in ("Host", "Range") if name in self.headers}
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                try:
                    connection.request("GET", self.path, headers=headers)
                    response = connection.getresponse()
                    body = response.read()
                    self.send_response(response.status)
                    for name, value in response.getheaders():
                        if name.lower() not in ("connection", "transfer-encoding", "content-length", "server", "date"):
                            self.send_header(name, value)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except ConnectionError:
                    # A player that has ended needs no response.
                    self.close_connection = True
                finally:
                    connection.close()

            def do_POST(self):
                query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
                body = self.rfile.read(int(self.headers["Content-Length"]))
                owner.receive(query["key"][0], body)
                self.respond(b"", "text/plain")

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.address = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()

    # Pictures

    def expect_pictures(self):
        with self.lock:
            key, event = str(len(self.received)), threading.Event()
            self.received[key] = (event, b"")
        return key, event

    def receive(self, key, body):
        with self.lock:
            event, _ = self.received[key]
            self.received[key] = (event, body)
        event.set()

    def pictures(self, key):
        with self.lock:
            return self.received[key][1]

    # Live manifests

    COUNT, DEPTH, INITIAL = 10, 5, 4

    def window(self, path):
        """The time of the first request for a path, and a window of five segments of 4 s that moves on from then, until the end."""
        with self.lock:
            start = self.starts.setdefault(path, time.time())
        end = min(self.COUNT, self.INITIAL + int(time.time() - start) // 4)
        return start, max(0, end - self.DEPTH), end

    def playlist(self, path):
        """A live media playlist of the video of the segments, written without the translation."""
        _, first, end = self.window(path)
        lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:4", f"#EXT-X-MEDIA-SEQUENCE:{first}",
                 f'#EXT-X-MAP:URI="{self.media}init-0.mp4"']
        for index in range(first, end):
            lines += ["#EXTINF:4,", f"{self.media}chunk-0-{61440 * index}.m4s"]
        return "\n".join(lines + (["#EXT-X-ENDLIST"] if end == self.COUNT else [])) + "\n"

    def manifest(self, path):
        """A live manifest of the segments."""
        start, first, end = self.window(path)
        is_last = end == self.COUNT
        # The stream is as old as its available segments.
        origin = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(start) - 4 * self.INITIAL))
        update = 'mediaPresentationDuration="PT40S"' if is_last else 'minimumUpdatePeriod="PT2S"'

        def timeline(boundaries):
            return "".join(
                f'<S t="{boundaries[index]}" d="{boundaries[index + 1] - boundaries[index]}"/>' for index in range(first, end))

        def template(timescale, boundaries):
            return (f'<SegmentTemplate timescale="{timescale}" initialization="init-$RepresentationID$.mp4" '
                    f'media="chunk-$RepresentationID$-$Time$.m4s"><SegmentTimeline>{timeline(boundaries)}</SegmentTimeline>'
                    '</SegmentTemplate>')

        video = template(15360, [61440 * index for index in range(self.COUNT + 1)])
        # Segments of audio are whole frames, which end up to a frame after those of the video.
        audio = template(48000, [192000 * index + (512 if index % 2 else 0) for index in range(self.COUNT)] + [1920000])
        return f"""<?xml version="1.0"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" type="dynamic" minBufferTime="PT4S"
  availabilityStartTime="{origin}" publishTime="{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}" {update}
  timeShiftBufferDepth="PT20S"><BaseURL>{self.media}</BaseURL><Period id="0" start="PT0S">
<AdaptationSet contentType="video" mimeType="video/mp4" frameRate="30">{video}
<Representation id="0" codecs="avc1.64001e" bandwidth="292408" width="640" height="360"/></AdaptationSet>
<AdaptationSet contentType="audio" mimeType="audio/mp4" lang="en">{audio}
<Representation id="2" codecs="mp4a.40.2" bandwidth="87733"/></AdaptationSet></Period></MPD>
"""
