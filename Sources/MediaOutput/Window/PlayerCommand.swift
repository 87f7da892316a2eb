public import MediaTiming

/// What somebody at a window wants, by a key or the mouse.
public enum PlayerCommand: Sendable, Hashable {
    /// Play where it is paused, pause where it plays: space, `p`, the button.
    case togglePause
    /// So much later, or earlier where it is negative: the arrows for 10 s, page up and down for 60 s.
    case seekBy(MediaTime)
    /// To a time: a click on the position bar, home, end, `0` to `9` for tenths of the whole.
    case seekTo(MediaTime)
    /// So many frames forwards, or backwards where it is negative: `.` and `,`.
    case step(Int)
    /// The next lower speed: `[`.
    case slower
    /// The next higher speed: `]`.
    case faster
    /// Speed 1: backspace.
    case normalSpeed
    /// So much louder, or quieter where it is negative, of 1: the arrows and the wheel for a twentieth.
    case changeVolume(Double)
    /// Silence, or sound again: `m`.
    case toggleMute
    /// The next audio rendition: `a`.
    case nextAudio
    /// The next subtitles, and after the last ones none: `s`.
    case nextSubtitles
    /// Figures over the picture, or none: `i`.
    case toggleStatistics
    /// The whole screen, or a window again: `f`, a double click. The window has done it already.
    case toggleFullScreen
    /// The end: `q`, escape, the window's own button.
    case quit
}

extension PlayerCommand {
    /// What the keys do, a line a key, for the help of a command.
    public static let keys: [(key: String, meaning: String)] = [
        ("space", "play, pause"),
        ("left, right", "10 s back, forwards"),
        ("page down, page up", "60 s back, forwards"),
        ("home, end", "to the beginning, to the end or to what is live"),
        ("0 to 9", "to that tenth of the whole"),
        (", .", "a frame back, forwards"),
        ("[ ]", "slower, faster"),
        ("backspace", "at normal speed"),
        ("up, down", "louder, quieter"),
        ("m", "silence, sound"),
        ("a", "the next audio"),
        ("s", "the next subtitles"),
        ("i", "figures over the picture"),
        ("f", "full screen"),
        ("q, escape", "quit"),
    ]
}
