import HLSPlaylist
import HTTPTypes
import MediaTiming
import MediaTransport
import NIOCore
import PlaylistEditing
import PresentationLoading
import ResourceAddressing
import SegmentFormat
import Synchronization

/// The partial segments of simulated channels, which are made of whole segments.
///
/// A segment is loaded once for all its parts, also if several clients request them at the same time.
final class PartStore: Sendable {
    /// The properties in which divided segments differ.
    private struct Key: Hashable {
        let segment: ResourceAddress
        let byteRange: ByteRange?
        let initialization: ResourceAddress?
        let initializationRange: ByteRange?
        let count: Int
        let target: MediaTime
        let duration: MediaTime
        /// A Boolean value that indicates whether the client has no access to the owner's sources.
        let isForeign: Bool

        init(_ part: SegmentPart, isForeign: Bool) {
            segment = part.segment
            byteRange = part.byteRange
            initialization = part.initialization
            initializationRange = part.initializationRange
            count = part.count
            target = part.target
            duration = part.duration
            self.isForeign = isForeign
        }

        /// The size of the key and of the description of its value in memory.
        var size: Int { segment.text.utf8.count +| (initialization?.text.utf8.count ?? 0) +| 2_048 }
    }

    /// The parts of a segment, or the reason for which it has none.
    private struct Divided {
        let parts: Result<[ByteBuffer], ServerError>
        /// The time after which the segment is loaded again.
        let end: Duration
    }

    private let workers: EditWorkers
    private let capacity: ServerCapacity
    private let time: any TimeSource
    private let date: @Sendable () -> ProgramDateTime
    private let divided: Mutex<RecentlyUsedValues<Key, Divided>>
    /// The divisions in progress: players of several variants and renditions request the parts of new segments together.
    private let divisions: SharedWork<Key, Divided>

    /// The number of divisions that a client can begin in any case.
    private static let minimumShare = 4

    /// The maximum time for which a client waits for a part.
    private static let maximumWait = MediaTime(seconds: 30)
    /// The time for which the parts of a segment stay in memory, and the failure to divide it.
    private static let retention = Duration.seconds(30)

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - workers: The executor that divides segments.
    ///   - capacity: The capacity against which segments are counted while they are divided, with the limits on dividing them.
    ///   - time: The clock for waiting.
    ///   - date: The clock of channels.
    init(
        workers: EditWorkers,
        capacity: ServerCapacity,
        time: any TimeSource = SystemTimeSource(),
        date: @escaping @Sendable () -> ProgramDateTime = { .current }
    ) {
        self.workers = workers
        self.capacity = capacity
        self.time = time
        self.date = date
        divided = Mutex(RecentlyUsedValues(maximumSize: capacity.limits.parts.retainedBytes))
        divisions = SharedWork(
            maximumCount: capacity.limits.parts.concurrentDivisions,
            minimumShare: Self.minimumShare,
            executor: time.taskExecutor
        )
    }

    /// Returns the bytes of a part once it is published.
    ///
    /// - Parameters:
    ///   - part: The part.
    ///   - isForeign: Whether the client has no access to the owner's sources.
    ///   - loader: The loader of the segment.
    /// - Returns: The bytes.
    /// - Throws: ``ServerError`` with 404 for a part that is published later than in half a minute, with 502 for a segment
    ///   that cannot be divided, with 504 for one that is not loaded within ``ServerLimits/loadingTime``, with 503 without capacity, and
    ///   with 429 if the client uses its share of it; `TransportError` if the segment cannot be loaded.
    func bytes(of part: SegmentPart, isForeign: Bool, _ loader: ResourceLoader) async throws -> ByteBuffer {
        let wait = part.publication.sinceEpoch - date().sinceEpoch
        guard wait <= Self.maximumWait else {
            throw ServerError(
                .notFound,
                "part-not-published",
                "the channel publishes this part at \(part.publication)",
                hint: "request it when a playlist names it"
            )
        }
        let key = Key(part, isForeign: isForeign)
        // The segment is loaded while its part is not published yet.
        let parts = try await parts(key) { [workers, capacity, time] in
            try await Self.divide(part, loader, workers, capacity, time)
        }
        if wait > .zero { try await time.waitUnlessShuttingDown(wait.duration) }
        return try parts.get()[part.index]
    }

    /// Returns the parts of a segment, which is loaded unless it is in memory.
    private func parts(
        _ key: Key,
        _ divide: @escaping @Sendable () async throws -> Result<[ByteBuffer], ServerError>
    ) async throws -> Result<[ByteBuffer], ServerError> {
        let known = divided.withLock { $0.use(key) }
        if let known, time.now < known.end { return known.parts }
        return try await divisions.value(for: key) { [self] in
            let new = Divided(parts: try await divide(), end: time.now + Self.retention)
            let size = (try? new.parts.get())?.reduce(key.size) { $0 +| $1.readableBytes } ?? key.size
            divided.withLock { $0.insert(new, size: size, for: key) }
            return new
        }.parts
    }

    /// Loads and divides a segment.
    ///
    /// - Returns: The parts, or the reason for which the segment cannot be divided.
    private static func divide(
        _ part: SegmentPart,
        _ loader: ResourceLoader,
        _ workers: EditWorkers,
        _ capacity: ServerCapacity,
        _ time: any TimeSource
    ) async throws -> Result<[ByteBuffer], ServerError> {
        let budget = try capacity.admit()
        // A load that ends late must not hold the capacity.
        let metered = loader.wrappingTransport { base in
            MeteredTransport(base) { [weak budget] count in try budget?.reserve(count) }
        }
        let limits = capacity.limits
        let size = limits.parts.segmentBytes
        let (segment, initialization) = try await time.limitingLoad(of: "segment", within: limits.loadingTime) {
            () async throws -> ([UInt8], [UInt8]) in
            var initialization: [UInt8] = []
            if let address = part.initialization {
                let request = TransportRequest(address, kind: .initialization, byteRange: part.initializationRange)
                initialization = try await metered.load(request, limit: size).bytes
            }
            let request = TransportRequest(part.segment, kind: .segment, byteRange: part.byteRange)
            return (try await metered.load(request, limit: size).bytes, initialization)
        }
        // The segment and its parts are in memory at the same time.
        try budget.reserve(segment.count +| initialization.count)
        let division = SegmentDivision(of: part.duration, target: part.target, count: part.count)
        defer { withExtendedLifetime(budget) {} }
        do {
            return .success(
                try await workers.run { [initialization] _ in
                    try division.parts(of: segment, initialization: initialization).map { ByteBuffer(bytes: $0) }
                }
            )
        } catch let error as MediaFormatError {
            return .failure(
                ServerError(
                    .badGateway,
                    "not-divisible",
                    "\(part.segment) cannot be divided into parts: \(error.message)",
                    hint: "leave out part=\(part.target) of the channel"
                )
            )
        }
    }
}
