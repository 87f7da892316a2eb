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
            for set in period.adaptationSets {
                for representation in set.representations where remaining > 0 {
                    remaining -= 1
                    lines.append(Self.line(representation, set, period, presentation))
                }
            }
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

    private static func line(
        _ representation: Representation,
        _ set: AdaptationSet,
        _ period: Period,
        _ presentation: MediaPresentation
    ) -> TerminalText {
        let addressing = SegmentAddressing(of: representation, in: set, of: period, in: presentation)
        var parts = [set.mediaType?.rawValue ?? "unknown", representation.id ?? "no identifier"]
        if let language = set.language { parts.append(language) }
        if let bandwidth = representation.bandwidth { parts.append("\(bandwidth)") }
        if let width = representation.width, let height = representation.height { parts.append("\(width)x\(height)") }
        if !representation.codecs.isEmpty { parts.append(representation.codecs.joined(separator: ",")) }
        if !representation.contentProtections.isEmpty { parts.append("protected") }
        if let fault = addressing.fault {
            parts.append(fault.rawValue)
        } else if addressing.needsIndex {
            parts.append("segment index")
        } else if !addressing.isUnbounded {
            parts.append(QuantityText.count(addressing.count, "segment"))
        }
        return "  \(parts.joined(separator: "  "))"
    }
}
