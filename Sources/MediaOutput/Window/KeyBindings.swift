import MediaTiming

/// A key by its meaning, independent of the keyboard layout.
enum Key: Sendable, Hashable {
    case left, right, up, down, home, end, pageUp, pageDown, escape, backspace
    case character(Character)
}

/// The assignment of keys to commands.
enum KeyBindings {
    /// Returns the command of a key.
    ///
    /// - Parameters:
    ///   - key: The key that was pressed.
    ///   - isRepeat: A Boolean value that indicates whether the key is being held. Only relative commands repeat, not
    ///     toggles.
    ///   - span: The playable time range, for keys that seek to a fraction of it.
    /// - Returns: The command; `nil` if the key has none.
    static func command(for key: Key, isRepeat: Bool = false, in span: MediaTimeRange? = nil) -> PlayerCommand? {
        switch key {
        case .left: .seekBy(MediaTime(seconds: -10))
        case .right: .seekBy(MediaTime(seconds: 10))
        case .pageDown: .seekBy(MediaTime(seconds: -60))
        case .pageUp: .seekBy(MediaTime(seconds: 60))
        case .up: .changeVolume(0.05)
        case .down: .changeVolume(-0.05)
        case .character("."): .step(1)
        case .character(","): .step(-1)
        case .character("["): .slower
        case .character("]"): .faster
        case .character("j"): .changeAudioDelay(.zero - delayStep)
        case .character("k"): .changeAudioDelay(delayStep)
        case .character("g"): .changeSubtitleDelay(.zero - delayStep)
        case .character("h"): .changeSubtitleDelay(delayStep)
        case _ where isRepeat: nil
        case .home: .seekTo(span?.start ?? .zero)
        case .end: span.map { .seekTo($0.end) }
        case .escape, .character("q"): .quit
        case .backspace: .normalSpeed
        case .character(" "), .character("p"): .togglePause
        case .character("m"): .toggleMute
        case .character("a"): .nextAudio
        case .character("v"): .nextVideo
        case .character("s"): .nextSubtitles
        case .character("l"): .toggleLoop
        case .character("c"): .saveScreenshot
        case .character("w"): .nextWindowSize
        case .character("i"): .toggleStatistics
        case .character("?"): .toggleKeys
        case .character("f"): .toggleFullScreen
        case .character(let character): tenth(character, of: span)
        }
    }

    /// The amount by which a key changes a delay.
    private static let delayStep = MediaTime(value: 1, timescale: 20)

    private static func tenth(_ character: Character, of span: MediaTimeRange?) -> PlayerCommand? {
        guard let span, character.isASCII, let digit = character.wholeNumberValue else { return nil }
        let offset = MediaTime(approximating: span.duration.seconds * Double(digit) / 10) ?? .zero
        return .seekTo(span.start + offset)
    }
}
