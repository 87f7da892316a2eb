import Foundation
import Millstream

// The code of the articles "Playing a stream" and "Observing playback".

/// A quarter of a second of silence: ten frames of MP3 with 128 kbit/s and 44,100 Hz.
let silence = Data((0..<10).flatMap { _ in [0xFF, 0xFB, 0x90, 0x00] + [UInt8](repeating: 0, count: 413) })

/// Creates a stream of half a second of audio in two languages in a temporary directory.
func makeFilm() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: "millstream-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var files = [
        "main.m3u8": """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="en.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",AUTOSELECT=YES,URI="ko.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=140000,CODECS="mp4a.40.34",AUDIO="a"
        en.m3u8

        """
    ]
    for name in ["en", "ko"] {
        files["\(name).m3u8"] = """
            #EXTM3U
            #EXT-X-TARGETDURATION:1
            #EXTINF:0.25,
            \(name)0.mp3
            #EXTINF:0.25,
            \(name)1.mp3
            #EXT-X-ENDLIST

            """
        for number in 0..<2 { try silence.write(to: folder.appending(path: "\(name)\(number).mp3")) }
    }
    for (name, text) in files { try Data(text.utf8).write(to: folder.appending(path: name)) }
    return folder.appending(path: "main.m3u8")
}

let url = try makeFilm()
let episodes = [url, url]
defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }

// Playing a stream

let player = Player(url: url)
player.play()

player.pause()
let seek = await player.seek(to: MediaTime(value: 1, timescale: 4), toleranceBefore: .zero, toleranceAfter: .zero)
print(seek.isFinished ? "at \(seek.position)" : "interrupted")

let asset = Asset(url: url, options: AssetOptions(headerFields: ["Authorization": "Bearer 1234"]))
let (isPlayable, duration) = try await asset.load(.isPlayable, .duration)
print(isPlayable ? "can be played" : "cannot be decoded", duration.map { "\($0)" } ?? "live")

let item = PlayerItem(asset: asset)
item.preferredPeakBitRate = BitRate(bitsPerSecond: 4_000_000)
item.preferredForwardBufferDuration = .seconds(20)
if let group = try await asset.loadMediaSelectionGroup(for: .audible) {
    item.select(group.options.first { $0.language == "ko" }, in: group)
}
try player.replaceCurrentItem(with: item)

let queue = try QueuePlayer(items: episodes.map { PlayerItem(url: $0) })
queue.play()
try queue.insert(PlayerItem(url: url), after: nil)
queue.advanceToNextItem()

var environment = Player.Environment.standard
environment.makeSessionID = { "show-1234" }
let customPlayer = Player(url: url, environment: environment)

// Observing playback

print(item.status, item.loadedTimeRanges.totalDuration, player.timeControlStatus)

for await status in item.values(of: \.status) where status != .unknown {
    print(status == .readyToPlay ? "ready" : "failed: \(item.error?.message ?? "")")
    break
}

let observer = player.addPeriodicTimeObserver(forInterval: MediaTime(value: 1, timescale: 10)) { time in
    print("at \(time)")
}

let notifications = item.notifications
player.play()
for await notification in notifications {
    switch notification {
    case .playbackStalled: print("playback stalled")
    case .newErrorLogEntry(let entry): print("error: \(entry.errorComment ?? "")")
    default: break
    }
    if notification == .didPlayToEnd { break }
}

player.removeTimeObserver(observer)

print(item.playbackMetrics?.lines ?? [])
print(String(decoding: item.accessLog.extendedLogData, as: UTF8.self))
