import DASHTranslation
import HTTPTypes
import MediaTiming
import MediaTransport
import NIOCore
import PlaylistEditing
import ResourceAddressing
import Synchronization

/// A store of the media properties of simulated channels, which are read from the beginnings of segments.
///
/// A segment is loaded once, even if several clients request manifests at the same time.
final class TrackMediaStore: Sendable {
    /// The segment that is read, and its media initialization section.
    struct Key: Hashable {
        let segment: ResourceAddress
        let byteRange: ByteRange?
        let initialization: ResourceAddress
        let initializationRange: ByteRange?
        /// A Boolean value that indicates whether the client has no access to the owner's sources.
        let isForeign: Bool

        /// The size of the key and of its value in memory.
        var size: Int { segment.text.utf8.count +| initialization.text.utf8.count +| 1_024 }
    }

    /// The properties of media, and the time after which it is loaded again.
    private struct Entry {
        let media: TrackMedia
        let end: Duration
    }

    private let capacity: ServerCapacity
    private let time: any TimeSource
    private let entries: Mutex<RecentlyUsedValues<Key, Entry>>
    private let loads: SharedWork<Key, TrackMedia>

    /// The maximum number of loads at the same time.
    private static let maximumLoadCount = 256
    /// The number of loads that a client can begin in any case: one for each track of a manifest.
    private static let minimumShare = 64
    /// The number of bytes of a segment that are read.
    ///
    /// The first movie fragment without its samples is smaller.
    private static let headSize: Int64 = 256 << 10
    /// The maximum size of a media initialization section.
    private static let maximumInitializationSize = ByteCount(1 << 20)
    /// The time after which media is loaded again, since a source can change.
    private static let retention = Duration.seconds(600)

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - size: The maximum size of all properties together.
    ///   - capacity: The capacity against which bytes are counted while they are loaded.
    ///   - time: The clock.
    init(
        size: ByteCount = ByteCount(16 << 20),
        capacity: ServerCapacity,
        time: any TimeSource = SystemTimeSource()
    ) {
        self.capacity = capacity
        self.time = time
        entries = Mutex(RecentlyUsedValues(maximumSize: size))
        loads = SharedWork(
            maximumCount: Self.maximumLoadCount,
            minimumShare: Self.minimumShare,
            executor: time.taskExecutor
        )
    }

    /// Returns the properties of the media of a segment.
    ///
    /// The segment is loaded unless the properties are known.
    ///
    /// - Parameters:
    ///   - key: The segment.
    ///   - loader: The loader of media.
    /// - Returns: The properties.
    /// - Throws: ``ServerError`` with 415 for media that is not fragmented MP4, with 504 for a segment that is not loaded in time,
    ///   and with 503 or 429 without capacity; `TransportError` if the media cannot be loaded.
    func media(of key: Key, _ loader: ResourceLoader) async throws -> TrackMedia {
        let known = entries.withLock { $0.use(key) }
        if let known, time.now < known.end { return known.media }
        return try await loads.value(for: key) { [self] in
            let media = try await load(key, loader)
            let entry = Entry(media: media, end: time.now + Self.retention)
            entries.withLock { $0.insert(entry, size: key.size, for: key) }
            return media
        }
    }

    /// Returns the result of all loads for one track, which are canceled after ``ServerLimits/loadingTime``.
    ///
    /// The time limit of each segment alone would permit a source to delay a request for hours. The properties of the
    /// segments that were loaded in time remain in the store.
    ///
    /// - Parameter load: The loads.
    /// - Returns: The result.
    /// - Throws: The error of the loads; ``ServerError`` with 504 if they take too long.
    func limitingTime<Result: Sendable>(
        _ load: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await time.limitingLoad(of: "beginnings of the segments", within: capacity.limits.loadingTime, load)
    }

    private func load(_ key: Key, _ loader: ResourceLoader) async throws -> TrackMedia {
        let budget = capacity.loadingBudget()
        let metered = loader.wrappingTransport { transport in
            MeteredTransport(transport) { try budget.receive($0) }
        }
        let (initialization, segment) = try await time.limitingLoad(of: "segment", within: capacity.limits.loadingTime)
        {
            () async throws -> ([UInt8], [UInt8]) in
            let request = TransportRequest(
                key.initialization,
                kind: .initialization,
                byteRange: key.initializationRange
            )
            let initialization = try await metered.load(request, limit: Self.maximumInitializationSize).bytes
            return (initialization, try await Self.head(of: key, metered))
        }
        guard let media = TrackMedia(initialization: initialization, segment: segment) else {
            throw ServerError.notFragmented(key.segment)
        }
        return media
    }

    /// Loads the beginning of a segment.
    private static func head(of key: Key, _ loader: ResourceLoader) async throws -> [UInt8] {
        let range = key.byteRange.flatMap { ByteRange(start: $0.start, length: min($0.length, headSize)) }
        // The size of an entire resource is unknown, and a request for a range beyond its end would fail.
        return try await loader.send(TransportRequest(key.segment, kind: .segment, byteRange: range)) { response in
            var bytes: [UInt8] = []
            for try await buffer in response.body {
                bytes.append(contentsOf: buffer.readableBytesView)
                if Int64(bytes.count) >= headSize { break }
            }
            return bytes
        }
    }
}

extension ServerError {
    /// The error for media that a DASH manifest cannot describe.
    static func notFragmented(_ segment: ResourceAddress) -> ServerError {
        ServerError(
            .unsupportedMediaType,
            "not-fragmented",
            "\(segment) is not fragmented MP4 with an EXT-X-MAP, and a DASH manifest cannot refer to it",
            hint: "play the channel as HLS: /play.m3u8 has all formats"
        )
    }
}
