public import MediaTiming

/// A command that a user gives with a key or the mouse.
public enum PlayerCommand: Sendable, Hashable {
    /// Toggles between playback and pause: space, `p`, the button, or the right mouse button.
    case togglePause
    /// Seeks by a duration, backward if negative: left and right arrows for 10 s, page up and page down for 60 s.
    case seekBy(MediaTime)
    /// Seeks to a time: a click on the position bar, home, end, or `0` to `9` for tenths of the playable range.
    case seekTo(MediaTime)
    /// Steps by a number of frames, backward if negative: `.` and `,`.
    case step(Int)
    /// Selects the next lower rate: `[`.
    case slower
    /// Selects the next higher rate: `]`.
    case faster
    /// Selects a rate of 1: backspace.
    case normalSpeed
    /// Changes the volume by a fraction of the full volume: up and down arrows, or the mouse wheel, by 0.05.
    ///
    /// Raising the volume unmutes the audio.
    case changeVolume(Double)
    /// Mutes or unmutes the audio: `m`.
    case toggleMute
    /// Selects the next audio rendition: `a`.
    case nextAudio
    /// Selects the next video rendition, such as another camera angle: `v`.
    case nextVideo
    /// Selects the next subtitles, or none after the last ones: `s`.
    case nextSubtitles
    /// Changes the delay of the audio, in seconds: `j` by −0.05 and `k` by 0.05.
    case changeAudioDelay(MediaTime)
    /// Changes the delay of the subtitles, in seconds: `g` by −0.05 and `h` by 0.05.
    case changeSubtitleDelay(MediaTime)
    /// Sets the start of a loop, then its end, then ends the loop: `l`.
    case toggleLoop
    /// Saves the frame as a PNG file: `c`.
    case saveScreenshot
    /// Changes the size of the window to 50, 100 or 200 % of the video: `w`. The window has already performed the change.
    case nextWindowSize
    /// Shows or hides the statistics: `i`.
    case toggleStatistics
    /// Shows or hides the keys: `?`.
    case toggleKeys
    /// Toggles full screen: `f`, or a double click. The window has already performed the change.
    case toggleFullScreen
    /// Ends the program: `q`, escape, or the close button of the window. In full screen mode, escape only leaves this
    /// mode.
    case quit
}

extension PlayerCommand {
    /// A Boolean value that indicates whether the command moves the playhead, so that the position is shown.
    var changesPosition: Bool {
        switch self {
        case .seekBy, .seekTo, .step: true
        case .togglePause, .slower, .faster, .normalSpeed, .changeVolume, .toggleMute, .nextAudio, .nextVideo,
            .nextSubtitles, .changeAudioDelay, .changeSubtitleDelay, .toggleLoop, .saveScreenshot, .nextWindowSize,
            .toggleStatistics, .toggleKeys, .toggleFullScreen, .quit:
            false
        }
    }

    /// The key of a command that has an effect only in a window; `nil` for all other commands.
    package var keyOfWindow: String? {
        switch self {
        case .nextWindowSize: "w"
        case .toggleStatistics: "i"
        case .toggleFullScreen: "f"
        case .togglePause, .seekBy, .seekTo, .step, .slower, .faster, .normalSpeed, .changeVolume, .toggleMute,
            .nextAudio, .nextVideo, .nextSubtitles, .changeAudioDelay, .changeSubtitleDelay, .toggleLoop,
            .saveScreenshot, .toggleKeys, .quit:
            nil
        }
    }

    /// The assigned keys with their meaning, one entry per line of a help text.
    public static let keyDescriptions: [(key: String, meaning: String)] = [
        ("space", "play, pause"),
        ("left, right", "seek 10 s backward, forward"),
        ("page down, page up", "seek 60 s backward, forward"),
        ("home, end", "seek to the start, to the end or live edge"),
        ("0 to 9", "seek to that tenth of the duration"),
        (", .", "step one frame backward, forward"),
        ("[ ]", "decrease, increase the rate"),
        ("backspace", "normal rate"),
        ("up, down", "increase, decrease the volume"),
        ("m", "mute, unmute"),
        ("a", "next audio rendition"),
        ("v", "next video rendition"),
        ("s", "next subtitles, or none"),
        ("j, k", "audio 50 ms earlier, later"),
        ("g, h", "subtitles 50 ms earlier, later"),
        ("l", "start of a loop, end of it, no loop"),
        ("c", "save the frame as a PNG file"),
        ("w", "window at 50, 100, 200 % of the video"),
        ("i", "show or hide statistics"),
        ("?", "show or hide these keys"),
        ("f", "full screen on, off"),
        (quitKeys, "quit; escape first leaves full screen"),
    ]

    private static let quitKeys = "q, escape"

    /// The assigned keys with their meaning, as lines of text with two columns.
    package static var keyLines: [String] { lines(of: keyDescriptions) }

    /// The keys that have an effect without a window, as lines of text with two columns.
    package static var keyLinesOfTerminal: [String] {
        let windowKeys = [nextWindowSize, toggleStatistics, toggleFullScreen].compactMap(\.keyOfWindow)
        let shared = keyDescriptions.filter { !windowKeys.contains($0.key) }
        // A terminal has no full screen to leave.
        return lines(of: shared.map { $0.key == quitKeys ? (key: $0.key, meaning: "quit") : $0 })
    }

    private static func lines(of descriptions: [(key: String, meaning: String)]) -> [String] {
        let width = descriptions.map(\.key.count).max() ?? 0
        return descriptions.map { key, meaning in
            key + String(repeating: " ", count: width - key.count + 2) + meaning
        }
    }
}
