import DASHManifest
import DASHTranslation
import MediaTiming
import MediaTransport
import ResourceAddressing
import SegmentFormat

/// The event messages at the beginnings of the segments of a presentation.
struct SegmentEvents: Sendable {
    /// The sizes of the beginnings of a segment that are loaded one after the other, until all messages are found.
    private static let beginnings: [Int64] = [4_096, 65_536]
    /// The maximum number of segments that are read at the same time.
    private static let concurrentLoads = 8

    /// The messages of each segment that was read; none for a segment that cannot be read.
    private(set) var messages: [AddressedResource: [EventMessage]] = [:]

    /// Loads the messages of segments that are not known, the last segments first.
    ///
    /// Segments that are not listed anymore are forgotten. What cannot be loaded in time is left for the next call.
    ///
    /// - Parameters:
    ///   - segments: The segments, those at the live edge last.
    ///   - loader: The loader of the request that needs the events.
    ///   - options: The maximum number and time of loads.
    /// - Throws: `CancellationError`.
    mutating func load(
        _ segments: [AddressedResource],
        using loader: ResourceLoader,
        _ options: PresentationOptions
    ) async throws {
        let wanted = Set(segments)
        if messages.count > wanted.count || !messages.keys.allSatisfy(wanted.contains) {
            messages = messages.filter { wanted.contains($0.key) }
        }
        let known = messages
        var waiting = segments.reversed().filter { known[$0] == nil }.prefix(options.eventLoadCount)
        guard !waiting.isEmpty else { return }
        var found = messages
        defer { messages = found }
        var hasReported = false
        try await withThrowingTaskGroup(of: Load.self) { group in
            group.addTask {
                try await options.time.sleep(for: options.eventTimeout)
                return .timeout
            }
            var running = 0
            while running > 0 || !waiting.isEmpty {
                while running < Self.concurrentLoads, let resource = waiting.popFirst() {
                    group.addTask { .ended(resource, try await Self.messages(of: resource, loader)) }
                    running += 1
                }
                guard case .ended(let resource, let result) = try await group.next() else { break }
                running -= 1
                switch result {
                case .success(let list): found[resource] = list
                case .failure(let error):
                    // The events of one segment are not worth another request with each version of the playlists.
                    found[resource] = []
                    guard !hasReported else { continue }
                    hasReported = true
                    options.reportProblem("the events in \(resource.address) cannot be read: \(error.message)")
                }
            }
            group.cancelAll()
        }
    }

    private enum Load: Sendable {
        case ended(AddressedResource, Result<[EventMessage], TransportError>)
        case timeout
    }

    /// Loads the messages of a segment.
    ///
    /// - Throws: `CancellationError`.
    private static func messages(
        of resource: AddressedResource,
        _ loader: ResourceLoader
    ) async throws -> Result<[EventMessage], TransportError> {
        do {
            for maximum in beginnings {
                let length = min(maximum, resource.byteRange?.length ?? maximum)
                let bytes = try await loader.loadBeginning(of: resource, length: length)
                if let messages = EventMessageReader.messages(in: bytes) { return .success(messages) }
                // A segment that ends here has no media and no further messages.
                if Int64(bytes.count) < length || length == resource.byteRange?.length { break }
            }
            return .success([])
        } catch let error as TransportError {
            return .failure(error)
        }
    }
}
