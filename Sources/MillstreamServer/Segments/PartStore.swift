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
    }

    private struct State {
        var divided: RecentlyUsedValues<Key, [ByteBuffer]>
        var divisions: [Key: Task<[ByteBuffer], any Error>] = [:]
    }

    private let workers: EditWorkers
    private let date: @Sendable () -> ProgramDateTime
    private let state: Mutex<State>

    /// The maximum time for which a client waits for a part.
    private static let maximumWait = MediaTime(seconds: 30)

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - size: The maximum size of the segments in memory.
    ///   - workers: The executor that divides segments.
    ///   - date: The clock.
    init(
        size: ByteCount = ByteCount(64 << 20),
        workers: EditWorkers,
        date: @escaping @Sendable () -> ProgramDateTime = { .current }
    ) {
        self.workers = workers
        self.date = date
        state = Mutex(State(divided: RecentlyUsedValues(maximumSize: size)))
    }

    /// Returns the bytes of a part once it is published.
    ///
    /// - Parameters:
    ///   - part: The part.
    ///   - isForeign: Whether the client has no access to the owner's sources.
    ///   - loader: The loader of the segment.
    /// - Returns: The bytes.
    /// - Throws: ``ServerError`` with 404 for a part that is published later than in half a minute, and with 502 for a segment
    ///   that cannot be divided; `TransportError` if the segment cannot be loaded.
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
        let division = divided(key) { try await Self.divide(part, loader, self.workers) }
        // The segment is loaded while its part is not published yet.
        if wait > .zero { try await Task.sleep(for: wait.duration) }
        return try await division()[part.index]
    }

    /// Returns a closure that returns the parts of a segment, which is loaded unless it is in memory.
    private func divided(
        _ key: Key,
        _ divide: @escaping @Sendable () async throws -> [ByteBuffer]
    ) -> () async throws -> [ByteBuffer] {
        state.withLock { state in
            if let known = state.divided.use(key) { return { known } }
            if let division = state.divisions[key] { return { try await division.value } }
            // The division serves several clients, so that it continues without the one that began it.
            let division = Task {
                let result: Result<[ByteBuffer], any Error>
                do { result = .success(try await divide()) } catch { result = .failure(error) }
                finish(key, result)
                return try result.get()
            }
            state.divisions[key] = division
            return { try await division.value }
        }
    }

    private func finish(_ key: Key, _ result: Result<[ByteBuffer], any Error>) {
        state.withLock { state in
            state.divisions[key] = nil
            guard case .success(let parts) = result else { return }
            let size = parts.reduce(2_048) { $0 +| $1.readableBytes }
            guard size <= state.divided.maximumSize / 2 else { return }
            state.divided.insert(parts, size: size, for: key)
        }
    }

    private static func divide(
        _ part: SegmentPart,
        _ loader: ResourceLoader,
        _ workers: EditWorkers
    ) async throws -> [ByteBuffer] {
        var initialization: [UInt8] = []
        if let address = part.initialization {
            let request = TransportRequest(address, kind: .initialization, byteRange: part.initializationRange)
            initialization = try await loader.load(request).bytes
        }
        let request = TransportRequest(part.segment, kind: .segment, byteRange: part.byteRange)
        let segment = try await loader.load(request).bytes
        let division = SegmentDivision(of: part.duration, target: part.target, count: part.count)
        do {
            return try await workers.run { [initialization] _ in
                try division.parts(of: segment, initialization: initialization).map { ByteBuffer(bytes: $0) }
            }
        } catch let error as MediaFormatError {
            throw ServerError(
                .badGateway,
                "not-divisible",
                "\(part.segment) cannot be divided into parts: \(error.message)",
                hint: "leave out part=\(part.target) of the channel"
            )
        }
    }
}
