import DASHManifest
import MediaTiming
import ReportFormat
import ResourceAddressing

/// A DASH presentation formatted as text for people.
struct PresentationTable {
    let text: TerminalText

    /// The maximum number of lines of representations; the report as JSON has all of them.
    private static let maximumLineCount = 200

    init(_ presentation: MediaPresentation) {
        var lines: [TerminalText] = []
        if let address = presentation.address { lines.append("\(address.withoutUserInformation.text)") }
        let duration: TerminalText = presentation.duration.map { ", \(QuantityText.preciseClock($0))" } ?? ""
        lines.append("DASH presentation, \(presentation.kind.rawValue)" + duration)
        var remaining = Self.maximumLineCount
        for period in presentation.periods.prefix(Self.maximumLineCount) {
            guard remaining > 0 else { break }
            let length: TerminalText = period.duration.map { ", \(QuantityText.preciseClock($0))" } ?? ""
            let start: TerminalText = period.start.map { ", from \(QuantityText.preciseClock($0))" } ?? ""
            lines.append("")
            lines.append("period \(period.id ?? "\(period.index + 1)")" + start + length)
            let representations = period.adaptationSets.flatMap { set in set.representations.map { (set, $0) } }
                .prefix(remaining)
            remaining -= representations.count
            lines += TextTable.lines(
                header: [
                    "type", "representation", "language", "bandwidth", "size", "frame rate", "codecs", "protection",
                    "segments",
                ],
                rows: representations.map { Self.row($1, $0, period, presentation) }
            )
        }
        if remaining == 0 { lines.append("…") }
        let diagnostics = presentation.diagnostics.filter { $0.severity != .note }
        if !diagnostics.isEmpty {
            lines.append("")
            lines += diagnostics.map { diagnostic in
                let position: TerminalText = diagnostic.line.map { "line \($0): " } ?? ""
                return "\(diagnostic.severity.rawValue): \(position)\(diagnostic.message) "
                    + "[\(diagnostic.code.rawValue), section \(diagnostic.section)]"
            }
        }
        text = lines.joined(separator: "\n")
    }

    private static func row(
        _ representation: Representation,
        _ set: AdaptationSet,
        _ period: Period,
        _ presentation: MediaPresentation
    ) -> [String] {
        let addressing = SegmentAddressing(of: representation, in: set, of: period, in: presentation)
        let segments: String =
            if let fault = addressing.fault {
                fault.rawValue
            } else if addressing.needsIndex {
                "in the segment index"
            } else {
                addressing.isUnbounded ? "" : "\(addressing.count)"
            }
        var size = ""
        if let width = representation.width, let height = representation.height { size = "\(width)x\(height)" }
        return [
            set.mediaType?.rawValue ?? "unknown", representation.id ?? "no identifier", set.language ?? "",
            representation.bandwidth?.description ?? "", size, representation.frameRate.map(frameRate) ?? "",
            representation.codecs.joined(separator: ","),
            representation.contentProtections.isEmpty ? "" : "protected", segments,
        ]
    }

    /// Returns a frame rate with up to three decimal digits, such as `25` or `29.97`.
    private static func frameRate(_ rate: MediaTime) -> String {
        let text = "\((rate.seconds * 1000).rounded() / 1000)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
