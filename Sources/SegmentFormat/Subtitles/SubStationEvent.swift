public import MediaTiming

/// A line of a script for a drawing library: what is drawn when (Advanced SubStation Alpha, `Dialogue`).
public struct SubStationEvent: Sendable, Hashable {
    /// When it is drawn.
    public let timeRange: MediaTimeRange
    /// Events of higher layers cover those of lower ones.
    public let layer: Int
    /// The style of the script it has; one of ``SubStationScript/header``.
    public let style: String
    /// The margins that say how wide it is, in units of the script.
    public let marginLeft: Int
    /// The margins that say how wide it is, in units of the script.
    public let marginRight: Int
    /// Its text with override tags.
    public let text: String

    /// The line as it stands in a file.
    public var dialogueLine: String {
        let start = Self.clock(timeRange.start)
        let end = Self.clock(timeRange.end)
        return "Dialogue: \(layer),\(start),\(end),\(style),,\(marginLeft),\(marginRight),0,,\(text)"
    }

    /// The line without times, as it stands in Matroska and as `ass_process_chunk` takes it.
    ///
    /// - Parameter readOrder: A number that no other event of the track has.
    /// - Returns: Fields separated by commas, without a line end.
    public func chunk(readOrder: Int) -> String {
        "\(readOrder),\(layer),\(style),,\(marginLeft),\(marginRight),0,,\(text)"
    }

    /// `h:mm:ss.cc`, to the nearest hundredth; from 0 to 9:59:59.99 and beyond, but not below zero.
    private static func clock(_ time: MediaTime) -> String {
        let hundredths = min(max(0, (time * 100).roundedSeconds), 360_000_000)
        let (hours, rest) = hundredths.quotientAndRemainder(dividingBy: 360_000)
        func pair(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return "\(hours):\(pair(rest / 6_000)):\(pair(rest / 100 % 60)).\(pair(rest % 100))"
    }
}
