public import MediaTiming

/// What of a presentation is kept.
public struct DownloadSelection: Sendable, Hashable {
    /// Which variants.
    public enum Variants: Sendable, Hashable {
        /// The one with the highest bit rate.
        case best
        /// The one with the lowest bit rate.
        case lowest
        /// All of them.
        case all
        /// The lowest one that reaches a bit rate; the highest where none does.
        case minimumBandwidth(BitRate)
        /// The best one whose picture is at most this many pixels high.
        case maximumHeight(Int)
    }

    /// Which renditions of a type.
    public enum Languages: Sendable, Hashable {
        /// Every rendition.
        case all
        /// Those that a player takes when the user says nothing.
        case defaults
        /// Those of some languages; `en` also means `en-US` (RFC 4647 §3.3.1).
        case some([String])
        /// None.
        case none
    }

    /// Which variants.
    public var variants: Variants
    /// Which sound.
    public var audio: Languages
    /// Which text.
    public var subtitles: Languages

    /// Makes a selection; by default the best variant with all sound and text, so that nothing is missing offline.
    public init(variants: Variants = .best, audio: Languages = .all, subtitles: Languages = .all) {
        self.variants = variants
        self.audio = audio
        self.subtitles = subtitles
    }
}

extension DownloadSelection: CustomStringConvertible {
    /// The selection as options of the command line.
    public var description: String {
        var text: String
        switch variants {
        case .best: text = "variants=best"
        case .lowest: text = "variants=lowest"
        case .all: text = "variants=all"
        case .minimumBandwidth(let rate): text = "min-bandwidth=\(rate.bitsPerSecond)"
        case .maximumHeight(let height): text = "max-height=\(height)"
        }
        text += "&audio=\(audio)&subtitles=\(subtitles)"
        return text
    }
}

extension DownloadSelection.Languages: CustomStringConvertible {
    /// The value as text, for people.
    public var description: String {
        switch self {
        case .all: "all"
        case .defaults: "default"
        case .none: "none"
        case .some(let languages): languages.joined(separator: ",")
        }
    }

    /// Reads `all`, `default`, `none` or languages with commas between.
    public init?(_ text: String) {
        switch text {
        case "all": self = .all
        case "default": self = .defaults
        case "none": self = .none
        default:
            let languages = text.split(separator: ",").map { String($0) }
            guard !languages.isEmpty else { return nil }
            self = .some(languages)
        }
    }

    func includes(language: String?, isDefault: Bool) -> Bool {
        switch self {
        case .all: true
        case .defaults: isDefault
        case .none: false
        case .some(let languages):
            languages.contains { wanted in
                let (wanted, tag) = (wanted.lowercased(), language?.lowercased() ?? "")
                return tag == wanted || tag.hasPrefix(wanted + "-")
            }
        }
    }
}
