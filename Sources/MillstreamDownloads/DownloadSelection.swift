public import MediaTiming

/// The variants and renditions of a presentation to download.
public struct DownloadSelection: Sendable, Hashable {
    /// A selection of variants.
    public enum Variants: Sendable, Hashable {
        /// The variant with the highest bit rate.
        case best
        /// The variant with the lowest bit rate.
        case lowest
        /// All variants.
        case all
        /// The variant with the lowest bit rate that is at least the given one; if there is none, the variant with the
        /// highest bit rate.
        case minimumBandwidth(BitRate)
        /// The variant with the highest bit rate whose height in pixels is at most the given one; a variant without a
        /// resolution matches too.
        case maximumHeight(Int)
    }

    /// A selection of renditions by language.
    public enum Languages: Sendable, Hashable {
        /// All renditions.
        case all
        /// The renditions that a player selects by default (`DEFAULT=YES`).
        case defaults
        /// The renditions in the given languages; `en` also matches `en-US` (RFC 4647 §3.3.1).
        case some([String])
        /// No renditions.
        case none
    }

    /// The selected variants.
    public var variants: Variants
    /// The selected audio renditions.
    public var audio: Languages
    /// The selected subtitle renditions.
    public var subtitles: Languages

    /// Creates a selection; by default the best variant with all audio and subtitles, so that all languages are
    /// available offline.
    public init(variants: Variants = .best, audio: Languages = .all, subtitles: Languages = .all) {
        self.variants = variants
        self.audio = audio
        self.subtitles = subtitles
    }
}

extension DownloadSelection: CustomStringConvertible {
    /// The selection in the form `variants=best&audio=all&subtitles=all`, as stored in the library.
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
    /// The selection as text: `all`, `default`, `none`, or the languages separated by commas.
    public var description: String {
        switch self {
        case .all: "all"
        case .defaults: "default"
        case .none: "none"
        case .some(let languages): languages.joined(separator: ",")
        }
    }

    /// Parses `all`, `default`, `none`, or languages separated by commas; `nil` if there are none.
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
