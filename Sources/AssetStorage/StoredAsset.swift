public import MediaTiming
public import ReportFormat
public import ResourceAddressing

/// A snapshot of a downloaded asset.
public struct StoredAsset: Sendable, Hashable, Identifiable {
    /// A completion state of an asset.
    public enum State: String, Sendable, Hashable {
        /// All selected files are stored.
        case complete
        /// Some files are not stored.
        case partial
    }

    /// The identifier of the asset in the library.
    public let id: String
    /// The title to display.
    public let title: String
    /// The URL of the source playlist.
    public let source: ResourceAddress
    /// The completion state.
    public let state: State
    /// The duration of the longest rendition; `nil` until the playlists are loaded.
    public let duration: MediaTime?
    /// The total size of the stored files.
    public let bytes: ByteCount
    /// The media playlists of the asset.
    public let renditions: [StoredRendition]
    /// The time ranges for which all selected renditions are stored.
    public let loadedTimeRanges: MediaTimeRangeSet
    /// The path of the package relative to the directory of the library, which may be moved.
    public let path: String
    /// The selection as the caller of the download wrote it.
    public let selection: String

    /// A Boolean value that indicates whether the asset can be played without a network connection.
    ///
    /// This requires a variant that is stored completely, with its keys and initialization sections, and a complete rendition of
    /// its audio group if any are selected. Other variants and renditions of the asset need not be complete.
    public package(set) var isPlayableOffline: Bool
    /// The format of the image that represents the asset; `nil` if it has none.
    ///
    /// ``AssetLibrary/artwork(of:)`` returns the image.
    public internal(set) var artworkFormat: AssetArtwork.Format?

    /// A Boolean value that indicates whether the asset is a media file, such as an MP4 file, and not a stream.
    ///
    /// It is stored unchanged, as the only segment of its only rendition.
    public var isMediaFile: Bool { renditions.contains { $0.folder == Self.mediaFileFolder } }

    /// The directory of a media file inside the package; no playlist has it.
    static let mediaFileFolder = "file"
    /// The directory of the only rendition of a source that is a media playlist.
    static let mediaPlaylistFolder = "media"

    /// The stored share of the duration as a percentage, from 0 to 100; 100 only if the asset is complete.
    public var percent: Double {
        guard let duration, duration > .zero else { return state == .complete ? 100 : 0 }
        if state == .complete { return 100 }
        return min(99.9, loadedTimeRanges.totalDuration.seconds / duration.seconds * 100)
    }

    /// The asset as a report of the command line and the server.
    public var report: ReportValue {
        .fields([
            "id": .string(id),
            "title": .string(title),
            "source": .string(source.withoutUserInformation.text),
            "state": .string(state.rawValue),
            "duration": duration.map { .seconds($0) },
            "bytes": .integer(bytes.bytes),
            "variants": .array(renditions.filter { $0.role == .variant }.map(\.report)),
            "audio": .strings(StoredRendition.languages(of: .audio, in: renditions)),
            "subtitles": .strings(StoredRendition.languages(of: .subtitles, in: renditions)),
            "playableOffline": .bool(isPlayableOffline),
            "mediaFile": .bool(isMediaFile),
            "artwork": artworkFormat.map { .string($0.contentType) },
            "path": .string(path),
            "loadedTimeRanges": .array(
                loadedTimeRanges.ranges.map { .array([.seconds($0.start), .seconds($0.end)]) }
            ),
            "expected": duration.map { .seconds($0) },
            "percent": .real((percent * 10).rounded(.down) / 10),
        ])
    }
}

/// A media playlist of a downloaded asset.
public struct StoredRendition: Sendable, Hashable {
    /// A role of a rendition in the presentation.
    public enum Role: String, Sendable, Hashable, Codable {
        /// A variant stream (`EXT-X-STREAM-INF`).
        case variant
        /// An audio rendition.
        case audio
        /// A video rendition.
        case video
        /// A subtitles rendition.
        case subtitles
        /// A variant with I-frames only (`EXT-X-I-FRAME-STREAM-INF`), for fast playback.
        case iFrames = "i-frames"

        /// The list of the multivariant playlist in which an entry of this role has its position.
        var list: EntryList {
            switch self {
            case .variant: .variants
            case .audio, .video, .subtitles: .renditions
            case .iFrames: .iFrameVariants
            }
        }
    }

    /// A list of entries of a multivariant playlist.
    enum EntryList: Hashable, CaseIterable {
        case variants
        case renditions
        case iFrameVariants
    }

    /// The role in the presentation.
    public let role: Role
    /// The directory of the rendition inside the package.
    public let folder: String
    /// The language of the rendition (RFC 5646).
    public let language: String?
    /// The peak bit rate of a variant.
    public let bandwidth: BitRate?
    /// The width of the video of a variant in pixels.
    public let width: Int?
    /// The height of the video of a variant in pixels.
    public let height: Int?
    /// The codecs of a variant (RFC 6381).
    public let codecs: [String]
    /// The stored time ranges.
    public let loadedTimeRanges: MediaTimeRangeSet
    /// The duration of the playlist.
    public let duration: MediaTime
    /// A Boolean value that indicates whether every file of the rendition is stored.
    public let isComplete: Bool
    /// The languages of the audio tracks of a media file or of the media of a source without variants, with `und` for a
    /// track that declares none; empty for other media playlists.
    public let audioLanguages: [String]
    /// The languages of the subtitle tracks of a media file or of the media of a source without variants, with `und` for a
    /// track that declares none; empty for other media playlists.
    public let subtitleLanguages: [String]
    /// The average bit rate of the stored segments of a variant whose peak bit rate is unknown, as that of a source without
    /// variants; `nil` if the peak bit rate is known, or if no segment is stored.
    public let averageBitRate: BitRate?

    /// The languages of the audio renditions or the subtitles renditions, or of such tracks of a media file or of a source
    /// without variants, with `und` for those that declare none.
    static func languages(of role: Role, in renditions: [StoredRendition]) -> [String] {
        renditions.flatMap { rendition -> [String] in
            switch role {
            case rendition.role: [rendition.language ?? "und"]
            case .audio: rendition.audioLanguages
            case .subtitles: rendition.subtitleLanguages
            case .variant, .video, .iFrames: []
            }
        }
    }

    fileprivate var report: ReportValue {
        .fields([
            "bandwidth": (bandwidth ?? averageBitRate).map { .integer($0.bitsPerSecond) },
            "width": width.map { .integer($0) },
            "height": height.map { .integer($0) },
            "codecs": .strings(codecs),
        ])
    }
}

/// A file of a package, whether or not it is stored.
package struct StoredResource: Sendable, Hashable, Identifiable {
    /// A kind of file in a media playlist.
    package enum Kind: String, Sendable, Hashable, Codable {
        /// A media segment.
        case segment
        /// An initialization section (`EXT-X-MAP`).
        case initialization
        /// An encryption key of 16 bytes.
        case key
        /// An encryption key of 32 bytes, for `AES-256-GCM`.
        case longKey
        /// A subtitle segment.
        case subtitle

        /// The size of a key in bytes (RFC 8216bis §4.4.4.4); `nil` for files of other kinds.
        package var keySize: Int64? {
            switch self {
            case .key: 16
            case .longKey: 32
            case .segment, .initialization, .subtitle: nil
            }
        }
    }

    /// The identifier of the file in the catalog.
    package let id: Int64
    /// The identifier of the asset.
    package let assetID: String
    /// The kind of file.
    package let kind: Kind
    /// The URL at the origin.
    package let address: ResourceAddress
    /// The byte range of the resource at the origin; `nil` for the entire resource.
    package let byteRange: ByteRange?
    /// The path relative to the package.
    package let path: String
    /// The directory of the rendition inside the package.
    package let folder: String
    /// The media time range of the segment; empty for keys and initialization sections.
    package let timeRange: MediaTimeRange
    /// The position in the order in which files are fetched: the start time in seconds, later for I-frames.
    package let order: Double
    /// The size of the stored file; `nil` if it is not stored.
    package internal(set) var bytes: ByteCount?

    /// The number that is added to the start times of I-frames in ``order``.
    private static let deferral = 1e12

    /// Returns the position of a file in the order in which files are fetched.
    static func order(startingAt start: MediaTime, isDeferred: Bool) -> Double {
        isDeferred ? max(0, start.seconds) + deferral : min(start.seconds, deferral.nextDown)
    }

    /// A Boolean value that indicates whether the file is fetched after all others, because it is often a part of one of
    /// them.
    package var isDeferred: Bool { order >= Self.deferral }
}
