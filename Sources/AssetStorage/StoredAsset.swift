public import MediaTiming
public import ReportFormat
public import ResourceAddressing

/// What is kept of an asset, as it was at one moment.
public struct StoredAsset: Sendable, Hashable, Identifiable {
    /// Whether anything is missing.
    public enum State: String, Sendable, Hashable {
        /// Everything that was asked for is there.
        case complete
        /// Something is still missing.
        case partial
    }

    /// What names it in the library.
    public let id: String
    /// What people call it.
    public let title: String
    /// Where it came from.
    public let source: ResourceAddress
    /// Whether anything is missing.
    public let state: State
    /// How long it is; `nil` until its playlists were loaded.
    public let duration: MediaTime?
    /// How much its files fill.
    public let bytes: ByteCount
    /// Its media playlists.
    public let renditions: [StoredRendition]
    /// The stretches of time for which everything chosen is there.
    public let loadedTimeRanges: MediaTimeRangeSet
    /// Its package, relative to the library's folder, which may move.
    public let path: String
    /// What was asked for, as the one who asked spelled it.
    public let selection: String

    /// Whether it can be played without the network: one variant is there from end to end.
    public let isPlayableOffline: Bool

    /// How much of the time is there, 0 to 100; 100 exactly when all is.
    public var percent: Double {
        guard let duration, duration > .zero else { return state == .complete ? 100 : 0 }
        if state == .complete { return 100 }
        return min(99.9, loadedTimeRanges.totalDuration.seconds / duration.seconds * 100)
    }

    /// The asset as the command line and the server print it.
    public var report: ReportValue {
        .fields([
            "id": .string(id),
            "title": .string(title),
            "source": .string(source.text),
            "state": .string(state.rawValue),
            "duration": duration.map { .seconds($0) },
            "bytes": .integer(bytes.bytes),
            "variants": .array(renditions.filter { $0.role == .variant }.map(\.report)),
            "audio": .strings(renditions.filter { $0.role == .audio }.map { $0.language ?? "und" }),
            "subtitles": .strings(renditions.filter { $0.role == .subtitles }.map { $0.language ?? "und" }),
            "playableOffline": .bool(isPlayableOffline),
            "path": .string(path),
            "loadedTimeRanges": .array(
                loadedTimeRanges.ranges.map { .array([.seconds($0.start), .seconds($0.end)]) }
            ),
            "expected": duration.map { .seconds($0) },
            "percent": .real((percent * 10).rounded(.down) / 10),
        ])
    }
}

/// A media playlist of a kept asset.
public struct StoredRendition: Sendable, Hashable {
    /// What it is in the presentation.
    public enum Role: String, Sendable, Hashable, Codable {
        /// A variant.
        case variant
        /// A rendition with sound.
        case audio
        /// A rendition with pictures.
        case video
        /// A rendition with text.
        case subtitles
    }

    /// What it is.
    public let role: Role
    /// Its folder inside the package.
    public let folder: String
    /// Its language (RFC 5646).
    public let language: String?
    /// The peak bit rate of a variant.
    public let bandwidth: BitRate?
    /// The width of a variant's picture in pixels.
    public let width: Int?
    /// The height of a variant's picture in pixels.
    public let height: Int?
    /// RFC 6381 names of a variant's formats.
    public let codecs: [String]
    /// How much of it is there.
    public let loadedTimeRanges: MediaTimeRangeSet
    /// How long it is.
    public let duration: MediaTime
    /// Whether every file of it is there.
    public let isComplete: Bool

    fileprivate var report: ReportValue {
        .fields([
            "bandwidth": bandwidth.map { .integer($0.bitsPerSecond) },
            "width": width.map { .integer($0) },
            "height": height.map { .integer($0) },
            "codecs": .strings(codecs),
        ])
    }
}

/// A file of a package, there or still to come.
public struct StoredResource: Sendable, Hashable, Identifiable {
    /// What it is to its playlist.
    public enum Kind: String, Sendable, Hashable, Codable {
        /// A media segment.
        case segment
        /// What a decoder needs before segments.
        case initialization
        /// An encryption key.
        case key
        /// A segment of subtitles.
        case subtitle
    }

    /// What names it in the catalogue.
    public let id: Int64
    /// What it is.
    public let kind: Kind
    /// Where it comes from.
    public let address: ResourceAddress
    /// Which bytes of the source it is; `nil` for all.
    public let byteRange: ByteRange?
    /// Where it lies, relative to the package.
    public let path: String
    /// The folder of its rendition.
    public let folder: String
    /// The stretch of time it fills; empty for keys and the like.
    public let timeRange: MediaTimeRange
    /// How large it is; `nil` while it is missing.
    public internal(set) var bytes: ByteCount?
}
