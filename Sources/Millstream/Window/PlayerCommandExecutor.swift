#if Playback
import Foundation
import HLSPlaylist
import MediaDecoding
package import MediaOutput
import MediaTiming

/// The execution of the commands that a user gives with keys, in a window or a terminal.
package struct PlayerCommandExecutor: Sendable {
    /// The rates that the keys select, in ascending order.
    private static let rates = [-8, -4, -2, -1, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 4, 8, 16, 32]

    private let player: Player
    private let loop: PlaybackLoop
    private let screenshotFolder: String
    private let announce: @Sendable (String) -> Void

    /// Creates an executor.
    ///
    /// - Parameters:
    ///   - player: The player.
    ///   - screenshotFolder: The path of the directory in which screenshots are saved.
    ///   - announce: Called with a few words about the effect of a command.
    package init(
        _ player: Player,
        screenshotFolder: String = ".",
        announce: @escaping @Sendable (String) -> Void
    ) {
        self.player = player
        loop = PlaybackLoop(player)
        self.screenshotFolder = screenshotFolder
        self.announce = announce
    }

    /// Executes a command; those that only concern the display or end the program have no effect.
    package func execute(_ command: PlayerCommand) async {
        switch command {
        case .changeVolume(let change):
            player.volume += change
            if change > 0 { player.isMuted = false }
            let volume = "\(Int(saturating: (player.volume * 100).rounded())) %"
            announce(player.isMuted ? "\(volume) (muted)" : volume)
        case .toggleMute:
            player.isMuted.toggle()
            announce(player.isMuted ? "Muted" : "Unmuted")
        case .changeAudioDelay(let change): changeDelay("Audio", \.audio, by: change)
        case .changeSubtitleDelay(let change): changeDelay("Subtitles", \.subtitles, by: change)
        case .toggleStatistics, .toggleKeys, .nextWindowSize, .toggleFullScreen, .quit: break
        case .togglePause, .seekBy, .seekTo, .step, .slower, .faster, .normalSpeed, .nextAudio, .nextVideo,
            .nextSubtitles, .toggleLoop, .saveScreenshot:
            guard player.canPlay, let item = player.currentItem else { return announce("Loading") }
            await execute(command, on: item)
        }
    }

    /// Executes a command that requires an item that is ready to play.
    private func execute(_ command: PlayerCommand, on item: PlayerItem) async {
        switch command {
        case .togglePause: await togglePause(item)
        case .seekBy(let distance):
            announce(distance < .zero ? "\(distance) s" : "+\(distance) s")
            await seek(by: distance, item)
        case .seekTo(let time):
            // A seek to the end is exact, so that the last frame is shown. A live stream continues at its end.
            let isLive = item.state.recommendedTimeOffsetFromLive != nil
            let isEnd = !isLive && item.seekableTimeRanges.ranges.last.map { time >= $0.end } ?? false
            if isEnd { pause() }
            await player.seek(to: time, toleranceBefore: isEnd ? .zero : nil, toleranceAfter: isEnd ? .zero : nil)
        case .step(let count):
            pause()
            item.step(byCount: count)
        case .slower: changeRate(item, faster: false)
        case .faster: changeRate(item, faster: true)
        case .normalSpeed: if selectRate(1, item) { announce("1×") }
        case .nextAudio: selectNext(.audible, item)
        case .nextVideo: selectNext(.visual, item)
        case .nextSubtitles: selectNext(.legible, item)
        case .toggleLoop: announce(await loop.toggle(on: item))
        case .saveScreenshot: announce(saveScreenshot())
        case .changeVolume, .toggleMute, .changeAudioDelay, .changeSubtitleDelay, .toggleStatistics, .toggleKeys,
            .nextWindowSize, .toggleFullScreen, .quit:
            break
        }
    }

    /// Seeks by a distance to the exact frame, because the announced text names the distance.
    private func seek(by distance: MediaTime, _ item: PlayerItem) async {
        let target = max(.zero, item.currentTime() + distance)
        // A live stream continues at its end, so the position there need not be exact.
        let isLive = item.state.recommendedTimeOffsetFromLive != nil
        let isLiveEdge = isLive && item.seekableTimeRanges.ranges.last.map { target >= $0.end } ?? false
        let tolerance: MediaTime? = isLiveEdge ? nil : .zero
        await player.seek(to: target, toleranceBefore: tolerance, toleranceAfter: tolerance)
    }

    private func changeDelay(
        _ name: String,
        _ delay: ReferenceWritableKeyPath<OutputDelays, MediaTime>,
        by change: MediaTime
    ) {
        guard let delays = player.outputs?.delays else { return announce("Nothing is decoded") }
        delays[keyPath: delay] = delays[keyPath: delay] + change
        let milliseconds = Int(saturating: (delays[keyPath: delay].seconds * 1000).rounded())
        announce("\(name) \(milliseconds > 0 ? "+" : "")\(milliseconds) ms")
    }

    /// Writes the picture to a new file.
    ///
    /// The name of the file contains the time of the picture.
    ///
    /// - Returns: A few words about the result.
    private func saveScreenshot() -> String {
        guard let frame = player.outputs?.video.currentFrame else { return "There is no picture to save" }
        let position = Int(saturating: (max(.zero, frame.time).seconds * 1000).rounded(.down))
        let parts = [position / 3_600_000, position / 60_000 % 60, position / 1000 % 60].map {
            $0 < 10 ? "0\($0)" : "\($0)"
        }
        let milliseconds = String("00\(position % 1000)".suffix(3))
        let base = "screenshot-\(parts.joined(separator: "."))." + milliseconds
        // The picture of another stream may have the same time.
        var (name, number) = (base + ".png", 1)
        while FileManager.default.fileExists(atPath: "\(screenshotFolder)/\(name)") {
            number += 1
            name = "\(base)-\(number).png"
        }
        do {
            try PNGFrameOutput.write(frame, to: "\(screenshotFolder)/\(name)")
            return "Saved \(name)"
        } catch {
            return "The picture cannot be saved: \((error as? OutputError)?.message ?? "\(error)")"
        }
    }

    private func togglePause(_ item: PlayerItem) async {
        guard player.rate == 0 else { return pause() }
        let start = item.seekableTimeRanges.ranges.first?.start ?? .zero
        if item.hasPlayedToEnd {
            await player.seek(to: start, toleranceBefore: .zero, toleranceAfter: .zero)
        }
        // At the start, there is nothing to play in reverse.
        let isAtStart = item.hasPlayedToEnd || item.currentTime() <= start
        let rate = isAtStart && player.defaultRate < 0 ? 1 : player.defaultRate
        if !setRate(rate) { player.rate = 1 }
    }

    /// Pauses playback; the next command that plays continues at the same rate.
    private func pause() {
        if player.rate != 0 { player.defaultRate = player.rate }
        player.pause()
    }

    /// Plays at a rate, which also applies after a pause.
    ///
    /// - Returns: A Boolean value that indicates whether the rate is supported.
    @discardableResult
    private func setRate(_ rate: Double) -> Bool {
        guard player.setRate(rate) else { return false }
        player.defaultRate = rate
        return true
    }

    /// Plays at a rate; while playback is paused, the next command that plays uses it.
    ///
    /// - Returns: A Boolean value that indicates whether the rate is supported.
    @discardableResult
    private func selectRate(_ rate: Double, _ item: PlayerItem) -> Bool {
        guard player.rate == 0 else { return setRate(rate) }
        guard item.state.abilities.permits(rate), !player.state.requiresNormalRate || rate <= 1 else { return false }
        player.defaultRate = rate
        return true
    }

    private func changeRate(_ item: PlayerItem, faster: Bool) {
        let current = player.rate == 0 ? player.defaultRate : player.rate
        let next = faster ? Self.rates.first { $0 > current } : Self.rates.last { $0 < current }
        guard let next, selectRate(next, item) else { return }
        announce("\(PlayerWindowController.text(next))×")
    }

    private func selectNext(_ characteristic: MediaCharacteristic, _ item: PlayerItem) {
        guard let group = item.mediaSelectionGroup(for: characteristic), !group.options.isEmpty else {
            let messages: [MediaCharacteristic: String] = [.audible: "No other audio", .visual: "No other video"]
            return announce(messages[characteristic] ?? "No subtitles")
        }
        var choices: [MediaSelectionOption?] = group.options
        if characteristic == .legible { choices.append(nil) }
        let selected = item.currentMediaSelection[group.type]?.id
        let current = choices.firstIndex { $0?.id == selected } ?? choices.count - 1
        // Bounded: the list of choices is not empty.
        let next = choices[(current + 1) % choices.count]
        item.select(next, in: group)
        let names: [MediaCharacteristic: String] = [.audible: "Audio", .visual: "Video"]
        announce("\(names[characteristic] ?? "Subtitles"): \(next?.name ?? "off")")
    }
}
#endif
