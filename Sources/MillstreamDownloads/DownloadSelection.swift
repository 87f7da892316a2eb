public import HLSPlaylist
public import MediaTiming
public import PlaylistEditing
import ResourceAddressing

/// The variants and renditions of a presentation to download.
public struct DownloadSelection: Sendable, Hashable {
    /// A selection among the variants that satisfy ``DownloadSelection/qualifiers``.
    ///
    /// Except for ``all``, the selection is made among the variants that can be decoded, unless none of them can be.
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
        /// resolution matches too. If there is none, the variant with the lowest height, and of several the one with
        /// the lowest bit rate.
        case maximumHeight(Int)
        /// The variant with the lowest bit rate whose width and height are at least the given ones; if there is none,
        /// the variant with the highest bit rate.
        case minimumSize(Resolution)
        /// No variant, only the audio and subtitles for the variant with the highest bit rate.
        ///
        /// The asset cannot be played before a later download adds a variant.
        case none
    }

    /// A selection of renditions by language or name.
    public enum Languages: Sendable, Hashable {
        /// All renditions.
        case all
        /// The renditions that a player selects by default (`DEFAULT=YES`).
        ///
        /// In a group of audio renditions without a default one, this is the first that may be selected automatically
        /// (`AUTOSELECT=YES`), otherwise the first, so that the download has sound.
        case defaults
        /// The renditions in the given languages or with the given names; `en` also matches `en-US` (RFC 4647 §3.3.1).
        ///
        /// A language that a group of renditions does not have is looked up (RFC 4647 §3.4): `ko-KR` matches `ko` there.
        /// A name, such as `Commentary`, is compared as a whole and without regard to case. A language, a colon and a
        /// name, such as `en:Commentary`, match only renditions with this name, and `:Commentary` matches them in all
        /// languages.
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
    /// The conditions that each variant must satisfy; the download fails if there is no such variant.
    public var qualifiers: [VariantQualifier] = []
    /// A Boolean value that indicates whether variants with more than two audio channels are preferred.
    public var prefersMultichannelAudio = false
    /// A Boolean value that indicates whether variants with lossless audio are preferred.
    ///
    /// This preference has precedence over ``prefersMultichannelAudio``.
    public var prefersLosslessAudio = false
    /// The time range to download, from the beginning of each media playlist; `nil` for all of it.
    ///
    /// The segments that overlap the range are stored as a whole, so that the asset can begin a little before it. A
    /// later download with another range stores that range instead, if
    /// ``DownloadConfiguration/replacesStoredSegments`` permits it; segments of both are not fetched again.
    public var timeRange: PartialRange<MediaTime>?
    /// The edits of the playlists, which are applied before anything is chosen; none by default.
    ///
    /// For example, `exclude` leaves out advertisements, and `content-types` with `audio` stores only the audio. The
    /// stored asset is the edited presentation. The edits of a recording can only filter variants and renditions.
    public var edits = EditPlan([])

    /// The best variant with the default audio and subtitles.
    public static let standard = DownloadSelection(audio: .defaults, subtitles: .defaults)

    /// Creates a selection; by default the best variant with all audio and subtitles, so that all languages are
    /// available offline.
    public init(variants: Variants = .best, audio: Languages = .all, subtitles: Languages = .all) {
        self.variants = variants
        self.audio = audio
        self.subtitles = subtitles
    }
}

extension DownloadSelection {
    /// Returns a Boolean value that indicates whether each part of the selection that is not the default is that of another
    /// selection.
    ///
    /// The time range is not compared, because recordings, which continue with their stored selection, have none.
    ///
    /// - Parameters:
    ///   - stored: The other selection.
    ///   - defaults: The selection with the default of each part.
    /// - Returns: `false` if a part is neither that of `stored` nor that of `defaults`.
    package func agrees(with stored: DownloadSelection, besides defaults: DownloadSelection) -> Bool {
        func isSame<Part: Equatable>(_ part: (DownloadSelection) -> Part) -> Bool {
            let own = part(self)
            return own == part(defaults) || own == part(stored)
        }
        return isSame(\.variants) && isSame(\.audio) && isSame(\.subtitles) && isSame(\.qualifiers)
            && isSame(\.prefersMultichannelAudio) && isSame(\.prefersLosslessAudio) && isSame(\.edits)
    }

    /// A Boolean value that indicates whether the stored media playlists differ from those of the source.
    var changesMedia: Bool { timeRange != nil || edits.changesMedia }
}

extension DownloadSelection.Languages: CustomStringConvertible {
    /// The selection as text: `all`, `default`, `none`, or the languages separated by commas.
    ///
    /// A comma or a percent sign in a name is percent-encoded.
    public var description: String {
        switch self {
        case .all: "all"
        case .defaults: "default"
        case .none: "none"
        case .some(let languages):
            languages.map { $0.replacing("%", with: "%25").replacing(",", with: "%2C") }.joined(separator: ",")
        }
    }

    /// Creates a selection from `all`, `default`, `none`, or languages separated by commas; `nil` if there are none.
    public init?(_ text: String) {
        switch text {
        case "all": self = .all
        case "default": self = .defaults
        case "none": self = .none
        default:
            let languages = text.split(separator: ",").map { PercentEncoding.decode(String($0)) ?? String($0) }
            guard !languages.isEmpty else { return nil }
            self = .some(languages)
        }
    }

    /// A rendition or track that can be selected.
    struct Candidate {
        /// The language tag; `nil` if it has none.
        var language: String?
        /// The name; `nil` if it has none.
        var name: String?
        /// A Boolean value that indicates whether a player selects it by default.
        var isDefault = false
    }

    /// Returns the positions of the renditions or tracks that are selected.
    ///
    /// - Parameter offered: The renditions of one group, or the tracks of one file.
    /// - Returns: The positions in `offered`.
    func positions(in offered: [Candidate]) -> Set<Int> {
        switch self {
        case .all: return Set(offered.indices)
        case .defaults: return Set(offered.indices.filter { offered[$0].isDefault })
        case .none: return []
        case .some(let entries):
            let names = offered.map { (language: $0.language, name: $0.name) }
            return entries.reduce(into: []) { positions, entry in
                positions.formUnion(RenditionMatching.positions(matching: entry, in: names))
            }
        }
    }

    /// Returns the languages and names of the selection that match no rendition or track.
    ///
    /// - Parameter offered: The languages and names that can be selected.
    /// - Returns: The languages and names; empty for a selection without any.
    func missing(in offered: [(language: String?, name: String?)]) -> [String] {
        switch self {
        case .all, .defaults, .none: []
        case .some(let entries): entries.filter { RenditionMatching.positions(matching: $0, in: offered).isEmpty }
        }
    }
}
