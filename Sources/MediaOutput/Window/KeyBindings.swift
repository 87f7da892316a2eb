import MediaTiming

/// A key as somebody means it, whatever the layout of the keyboard.
enum Key: Sendable, Hashable {
    case left, right, up, down, home, end, pageUp, pageDown, escape, backspace
    case character(Character)
}

/// Which key means what.
enum KeyBindings {
    /// The command of a key.
    ///
    /// - Parameters:
    ///   - key: What is pressed.
    ///   - isRepeat: Whether it is being held: that goes on with what has steps, and switches nothing to and fro.
    ///   - span: What can be played, for keys that mean a part of it.
    /// - Returns: What it means; `nil` where it means nothing.
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
        case _ where isRepeat: nil
        case .home: .seekTo(span?.start ?? .zero)
        case .end: span.map { .seekTo($0.end) }
        case .escape, .character("q"): .quit
        case .backspace: .normalSpeed
        case .character(" "), .character("p"): .togglePause
        case .character("m"): .toggleMute
        case .character("a"): .nextAudio
        case .character("s"): .nextSubtitles
        case .character("i"): .toggleStatistics
        case .character("f"): .toggleFullScreen
        case .character(let character): tenth(character, of: span)
        }
    }

    private static func tenth(_ character: Character, of span: MediaTimeRange?) -> PlayerCommand? {
        guard let span, character.isASCII, let digit = character.wholeNumberValue else { return nil }
        let offset = MediaTime(approximating: span.duration.seconds * Double(digit) / 10) ?? .zero
        return .seekTo(span.start + offset)
    }
}
