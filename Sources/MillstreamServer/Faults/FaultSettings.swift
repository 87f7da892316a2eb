import Foundation
import HTTPTypes
import Hummingbird
import MediaTiming
import NIOCore
import PlaylistEditing
import ReportFormat
import Synchronization

/// The faults that a server simulates, which the console can change while the server runs.
final class FaultSettings: Sendable {
    /// The maximum number of faults, each of which is compared with the path of each request.
    private static let maximumCount = 32

    private struct State {
        let faults: [ResponseFault]
        /// The time from which the periods of the faults count.
        let start: Duration
        var counter = RequestCounter()
        var revision = 0
    }

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

    /// Returns the fault that applies to a request, and counts the request; `nil` if there is none.
    func fault(forRequestOf path: String) -> ResponseFault? {
        let (faults, counter, start) = state.withLock { ($0.faults, $0.counter, $0.start) }
        let candidates = faults.filter { $0.concerns(path) }
        // Requests are counted only where a number can matter.
        let number = candidates.contains { $0.requests != nil } ? counter.count(path) : 1
        let elapsed = time.now - start
        return candidates.first { $0.period.contains(elapsed) && ($0.requests?.contains(number) ?? true) }
    }

    /// Replaces the faults; requests are counted from 1, and periods from now on.
    ///
    /// - Throws: ``ServerError`` with 400 for an invalid fault or too many faults.
    func replace(with texts: [String]) throws {
        guard texts.count <= Self.maximumCount else {
            throw ServerError(.badRequest, "too-many-faults", "at most \(Self.maximumCount) faults can be simulated")
        }
        let faults = try texts.map { (text: String) throws -> ResponseFault in
            do throws(ResponseFault.InvalidFault) {
                return try ResponseFault(parsing: text)
            } catch {
                throw ServerError(
                    .badRequest,
                    "invalid-fault",
                    "the fault \(error.sentence(about: text))",
                    hint: "an example is \(ResponseFault.example)"
                )
            }
        }
        let now = time.now
        state.withLock { $0 = State(faults: faults, start: now, revision: $0.revision &+ 1) }
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
    private struct Parameters: Decodable {
        let faults: [String]
    }

    /// Adds the routes that read and change the faults.
    func add(to api: RouterGroup<ServerRequestContext>) {
        api.get("faults") { _, _ in Response.json(self.report) }
        api.put("faults") { request, _ in
            var request = request
            let body = try await request.collectBody(upTo: 256 << 10)
            guard let order = try? JSONDecoder().decode(Parameters.self, from: Data(body.readableBytesView)) else {
                throw ServerError(.badRequest, "invalid-body", "the body must contain faults, a list of strings")
            }
            try self.replace(with: order.faults)
            return Response.json(self.report)
        }
    }
}
