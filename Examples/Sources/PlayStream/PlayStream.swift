import Foundation
import Millstream

// The code of the articles "Playing a stream" and "Observing playback".
//
// Usage: PlayStream ADDRESS, such as the path of the sample stream fmp4/multivariant.m3u8 that Scripts/make-samples
// makes. The stream must have at least 20 seconds, and audio in Korean. It is audible if there is an audio device.

guard CommandLine.arguments.count == 2, let url = URL(argument: CommandLine.arguments[1]) else {
    print("usage: PlayStream ADDRESS")
    exit(64)
}
let episodes = [url, url]

extension URL {
    /// Creates a URL from a command-line argument: an address, or the path of a file.
    init?(argument: String) {
        guard argument.contains("://") else {
            self.init(filePath: argument)
            return
        }
        self.init(string: argument)
    }
}

// Playing a stream

let player = Player(url: url)
player.play()

player.pause()
let time = MediaTime(value: 10_120, timescale: 1000)
let seek = await player.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero)
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

let observer = player.addPeriodicTimeObserver(forInterval: MediaTime(value: 1, timescale: 2)) { time in
    print("at \(time)")
}

// Only the last seconds are played, to show the events at the end.
if let end = item.duration { await player.seek(to: end - MediaTime(seconds: 3)) }

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
