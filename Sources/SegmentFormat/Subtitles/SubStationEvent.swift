package import MediaTiming

/// A `Dialogue` line of an Advanced SubStation Alpha script.
package struct SubStationEvent: Sendable, Hashable {
    /// The time range during which the event is shown.
    package let timeRange: MediaTimeRange
    /// The layer; events of higher layers are drawn over those of lower ones.
    package let layer: Int
    /// The name of the style, one of those in ``SubStationScript/header``.
    package let style: String
    /// The left margin, which together with the right one determines the line width, in units of the script.
    package let marginLeft: Int
    /// The right margin, which together with the left one determines the line width, in units of the script.
    package let marginRight: Int
    /// The text with override tags.
    package let text: String

    /// The line as written to a script file.
    package var dialogueLine: String {
        let start = Self.clock(timeRange.start)
        let end = Self.clock(timeRange.end)
        return "Dialogue: \(layer),\(start),\(end),\(style),,\(marginLeft),\(marginRight),0,,\(text)"
    }

    /// Returns the event without times, in the form used in Matroska and by `ass_process_chunk`.
    ///
    /// - Parameter readOrder: A number that is unique among the events of the track.
    /// - Returns: Fields separated by commas, without a line terminator.
    package func chunk(readOrder: Int) -> String {
        "\(readOrder),\(layer),\(style),,\(marginLeft),\(marginRight),0,,\(text)"
    }

    /// Returns the time as `h:mm:ss.cc`, rounded to hundredths of a second and limited to 0 to 1000 hours.
    private static func clock(_ time: MediaTime) -> String {
        let hundredths = min(max(0, (time * 100).roundedSeconds), 360_000_000)
        let (hours, rest) = hundredths.quotientAndRemainder(dividingBy: 360_000)
        func pair(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return "\(hours):\(pair(rest / 6_000)):\(pair(rest / 100 % 60)).\(pair(rest % 100))"
    }
}
