import MediaTiming

/// The timing parameters of a TTML document, with which time expressions are parsed (TTML2 §12.3 and §7.2).
struct TimedTextTiming {
    /// A Boolean value that indicates whether times are SMPTE time codes instead of media times.
    var isSMPTE = false
    /// A Boolean value that indicates whether two frame numbers are dropped each minute except every tenth
    /// (drop-frame).
    var dropsFrames = false
    private(set) var frameRate: Int64 = 30
    private var multiplier: (top: Int64, bottom: Int64) = (1, 1)
    private var subframes: Int64 = 1
    private var tickRate: Int64?
    private var hasFrameRate = false

    /// Sets a parameter attribute of the root element; invalid values leave the default.
    mutating func set(_ name: String, _ value: String) {
        switch name {
        case "timeBase": isSMPTE = value == "smpte"
        case "dropMode": dropsFrames = value == "dropNTSC"
        case "frameRate":
            guard let rate = Self.positive(value) else { return }
            frameRate = rate
            hasFrameRate = true
        case "subFrameRate": subframes = Self.positive(value) ?? subframes
        case "tickRate": tickRate = Self.positive(value)
        case "frameRateMultiplier":
            // The first edition of TTML has a colon as the separator.
            let parts = value.split { $0 == " " || $0 == ":" }
            guard let top = parts.first.flatMap(Self.positive) else { return }
            guard parts.count > 1 else {
                multiplier = (top, 1)
                return
            }
            if let bottom = Self.positive(parts[1]) { multiplier = (top, bottom) }
        default: break
        }
    }

    private static func positive(_ text: some StringProtocol) -> Int64? {
        guard text.utf8.count <= 9, let value = Int64(String(text)), value > 0 else { return nil }
        return value
    }

    /// Returns the time of an expression such as `00:00:01.5`, `00:00:01:12`, `1.5s`, `90f` or `900000t`; `nil` if
    /// invalid.
    func time(_ text: String) -> MediaTime? {
        let trimmed = text.filter { !$0.isWhitespace }
        guard trimmed.utf8.count <= 40, trimmed.utf8.first.map({ (0x30...0x39).contains($0) }) == true else {
            return nil
        }
        return trimmed.contains(":") ? clockTime(trimmed) : offsetTime(trimmed)
    }

    private func clockTime(_ text: String) -> MediaTime? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3 || parts.count == 4, let hours = Self.whole(parts[0]), let minutes = Self.whole(parts[1])
        else { return nil }
        let base = (hours *| 60 +| minutes) *| 60
        if parts.count == 3 {
            guard Self.isNumber(parts[2]), let seconds = MediaTime(decimal: parts[2]) else { return nil }
            return MediaTime(seconds: base) + seconds
        }
        guard let seconds = Self.whole(parts[2]) else { return nil }
        let frame = parts[3].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let frames = frame.first.flatMap(Self.whole) else { return nil }
        var count = MediaTime(seconds: frames)
        if frame.count == 2 {
            guard let sub = Self.whole(frame[1]) else { return nil }
            count = count + MediaTime(value: sub, timescale: subframes)
        }
        guard isSMPTE else { return MediaTime(seconds: base +| seconds) + duration(ofFrames: count) }
        // Time codes count frames at the nominal rate, which may differ from the actual frame rate.
        var nominal = (base +| seconds).multipliedSaturated(by: frameRate)
        if dropsFrames {
            let total = hours *| 60 +| minutes
            nominal -|= (total -| total / 10) *| 2
        }
        return duration(ofFrames: MediaTime(seconds: nominal) + count)
    }

    private func offsetTime(_ text: String) -> MediaTime? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard Self.isNumber(digits), let value = MediaTime(decimal: digits) else { return nil }
        switch text[digits.endIndex...] {
        case "h": return value * 3_600
        case "m": return value * 60
        case "s": return value
        case "ms": return value.scaled(by: MediaTime(value: 1, timescale: 1_000))
        case "f": return duration(ofFrames: value)
        case "t": return value.scaled(by: MediaTime(value: 1, timescale: ticks))
        default: return nil
        }
    }

    private func duration(ofFrames count: MediaTime) -> MediaTime {
        count.scaled(
            by: MediaTime(value: multiplier.bottom, timescale: frameRate.multipliedSaturated(by: multiplier.top))
        )
    }

    /// The number of ticks per second; without a tick rate, that of subframes if a frame rate is specified, else one.
    private var ticks: Int64 {
        tickRate ?? (hasFrameRate ? frameRate.multipliedSaturated(by: subframes) : 1)
    }

    private static func whole(_ text: Substring) -> Int64? {
        guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }

    private static func isNumber(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, let last = text.utf8.last else { return false }
        return (0x30...0x39).contains(first) && (0x30...0x39).contains(last)
    }
}
