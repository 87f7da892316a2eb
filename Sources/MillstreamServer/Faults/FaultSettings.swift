import Foundation
import HLSPlaylist
import HTTPTypes
import Hummingbird
import MediaTiming
import NIOCore
import PlaylistEditing
import ReportFormat
import ResourceAddressing
import Synchronization

/// The faults that a server simulates, which the console can change while the server runs.
final class FaultSettings: Sendable {
    private struct State {
        let faults: [ResponseFault]
        /// The time from which the periods of the faults count.
        let start: Duration
        var counter = RequestCounter()
        var revision = 0
        /// The media sequence numbers of the segments of playlists that were sent, by the hash of their path.
        var sequences: [Int: Int64] = [:]
    }

    /// The maximum number of segments whose media sequence numbers are known; the record begins again when it is reached.
    private static let maximumSegmentCount = 200_000

    private let state: Mutex<State>

    /// The clock for the periods, delays and rates of faults.
    let time: any TimeSource

    /// Creates settings whose periods count from now on.
    ///
    /// - Parameters:
    ///   - faults: The faults.
    ///   - time: The clock.
    init(_ faults: [ResponseFault], time: any TimeSource = SystemTimeSource()) {
        self.time = time
        state = Mutex(State(faults: faults, start: time.now))
    }

    /// A Boolean value that indicates whether no fault is simulated.
    var isEmpty: Bool { state.withLock { $0.faults.isEmpty } }

    /// A number that changes whenever the faults change; `nil` while a fault is simulated.
    var emptyRevision: Int? { state.withLock { $0.faults.isEmpty ? $0.revision : nil } }

    /// A Boolean value that indicates whether a fault concerns segments with certain media sequence numbers.
    var selectsSequences: Bool { state.withLock { $0.faults.contains { $0.sequence != nil } } }

    /// Records the media sequence numbers of the segments of a playlist before it is sent.
    ///
    /// - Parameters:
    ///   - bytes: The playlist; anything but a media playlist has no effect.
    ///   - address: The URL at which it is sent.
    func recordSequences(of bytes: [UInt8], at address: ResourceAddress) {
        guard let parsed = try? Playlist.parse(bytes, context: PlaylistContext(address: address)),
            case .media(let playlist) = parsed
        else { return }
        let found = playlist.segments.map { segment in
            let location = segment.address
            return (FaultInjection.path(of: location.path, location.query).hashValue, segment.sequence)
        }
        state.withLock { state in
            if state.sequences.count +| found.count > Self.maximumSegmentCount { state.sequences = [:] }
            for (path, sequence) in found.prefix(Self.maximumSegmentCount) { state.sequences[path] = sequence }
        }
    }

    /// Returns the fault that applies to a request, and counts the request; `nil` if there is none.
    ///
    /// - Parameters:
    ///   - path: The path with which the patterns of faults are compared.
    ///   - sequence: The media sequence number of the segment; `nil` for that of the last playlist with the path.
    /// - Returns: The first fault that concerns the request.
    func fault(forRequestOf path: String, sequence: Int64? = nil) -> ResponseFault? {
        let (faults, counter, start) = state.withLock { ($0.faults, $0.counter, $0.start) }
        let isNumbered = faults.contains { $0.sequence != nil }
        let segment = isNumbered ? sequence ?? state.withLock { $0.sequences[path.hashValue] } : nil
        let candidates = faults.filter { fault in
            guard fault.concerns(path) else { return false }
            guard let numbers = fault.sequence else { return true }
            return segment.map { numbers.contains(Int(clamping: $0)) } ?? false
        }
        // Requests are counted only where a number can matter.
        let number = candidates.contains { $0.requests != nil } ? counter.count(path) : 1
        let elapsed = time.now - start
        return candidates.first { $0.period.contains(elapsed) && ($0.requests?.contains(number) ?? true) }
    }

    /// Replaces the faults; requests are counted from 1, and periods from now on.
    ///
    /// - Throws: ``ServerError`` with 400 for an invalid fault or too many faults.
    func replace(with texts: [String]) throws {
        apply(try FaultOrder(texts))
    }

    /// Replaces the faults; requests are counted from 1, and periods from now on.
    func apply(_ order: FaultOrder) {
        let now = time.now
        state.withLock {
            $0 = State(faults: order.faults, start: now, revision: $0.revision &+ 1, sequences: $0.sequences)
        }
    }

    /// The faults as JSON, with the seconds for which they have been simulated.
    var report: ReportValue {
        let (faults, start) = state.withLock { ($0.faults, $0.start) }
        return .fields([
            "faults": .strings(faults.map(\.text)), "form": .string(ResponseFault.form),
            "elapsed": .real((time.now - start) / .seconds(1)),
        ])
    }
}

extension FaultSettings {
    /// Adds the routes that read and change the faults.
    func add(to api: RouterGroup<ServerRequestContext>) {
        api.get("faults") { _, _ in Response.json(self.report) }
        api.put("faults") { request, _ in
            var request = request
            let body = try await request.collectBody(upTo: 256 << 10)
            self.apply(try FaultOrder(parsing: Array(body.readableBytesView)))
            return Response.json(self.report)
        }
    }
}
