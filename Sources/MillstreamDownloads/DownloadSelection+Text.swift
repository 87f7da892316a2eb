import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ResourceAddressing

extension DownloadSelection: CustomStringConvertible {
    /// The selection in the form `variants=best&audio=all&subtitles=all`, as stored in the library.
    ///
    /// Values are percent-encoded where they contain a separator.
    public var description: String {
        var parts: [(Attribute, String)] =
            switch variants {
            case .best: [(.variants, "best")]
            case .lowest: [(.variants, "lowest")]
            case .all: [(.variants, "all")]
            case .none: [(.variants, "none")]
            case .minimumBandwidth(let rate): [(.minimumBandwidth, "\(rate.bitsPerSecond)")]
            case .maximumHeight(let height): [(.maximumHeight, "\(height)")]
            case .minimumSize(let size): [(.minimumSize, "\(size)")]
            }
        parts += [(.audio, "\(audio)"), (.subtitles, "\(subtitles)")]
        parts += qualifiers.map { (.qualifier, "\($0)") }
        if prefersMultichannelAudio { parts.append((.multichannel, "true")) }
        if prefersLosslessAudio { parts.append((.lossless, "true")) }
        if let timeRange {
            let bounds = [timeRange.low, timeRange.high].map { $0?.description ?? "" }
            parts.append((.timeRange, bounds.joined(separator: "...")))
        }
        parts += edits.edits.map { (.edit, "\($0.definition.name)=\($0.value)") }
        return parts.map { "\($0.rawValue)=\(Self.escaped($1))" }.joined(separator: "&")
    }

    /// The names of the attributes in the text of a selection.
    private enum Attribute: String {
        case variants
        case minimumBandwidth = "min-bandwidth"
        case maximumHeight = "max-height"
        case minimumSize = "min-size"
        case audio
        case subtitles
        case qualifier
        case multichannel = "prefer-multichannel"
        case lossless = "prefer-lossless"
        case timeRange = "range"
        case edit
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("%", with: "%25").replacing("&", with: "%26")
    }

    /// Creates a selection from its ``description``; `nil` for any other text.
    public init?(_ text: String) {
        self.init()
        for part in text.split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, let attribute = Attribute(rawValue: String(pair[0])),
                let value = PercentEncoding.decode(String(pair[1])), set(attribute, to: value)
            else { return nil }
        }
    }

    /// Sets an attribute, and returns whether the value is valid.
    private mutating func set(_ attribute: Attribute, to value: String) -> Bool {
        switch attribute {
        case .variants:
            switch value {
            case "best": variants = .best
            case "lowest": variants = .lowest
            case "all": variants = .all
            case "none": variants = .none
            default: return false
            }
        case .minimumBandwidth:
            guard let rate = Int64(value) else { return false }
            variants = .minimumBandwidth(BitRate(bitsPerSecond: rate))
        case .maximumHeight:
            guard let height = Int(value) else { return false }
            variants = .maximumHeight(height)
        case .minimumSize:
            guard let size = Resolution(value) else { return false }
            variants = .minimumSize(size)
        case .audio, .subtitles:
            guard let languages = Languages(value) else { return false }
            if attribute == .audio { audio = languages } else { subtitles = languages }
        case .qualifier:
            guard let qualifier = VariantQualifier(value) else { return false }
            qualifiers.append(qualifier)
        case .multichannel: prefersMultichannelAudio = value == "true"
        case .lossless: prefersLosslessAudio = value == "true"
        case .timeRange:
            guard let range = PartialRange<MediaTime>(value) else { return false }
            timeRange = range
        case .edit:
            let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let text = parts.count > 1 ? String(parts[1]) : ""
            guard let edit = try? PlaylistEdit(name: String(parts[0]), value: text) else { return false }
            edits = EditPlan(edits.edits + [edit])
        }
        return true
    }
}
