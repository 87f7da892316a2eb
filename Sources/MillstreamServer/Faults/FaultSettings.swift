import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PlaylistEditing
import ReportFormat
import Synchronization

/// The faults that a server simulates, which the console can change while the server runs.
final class FaultSettings: Sendable {
    /// The maximum number of faults, each of which is compared with the path of each request.
    private static let maximumCount = 32

    private struct State {
        var faults: [ResponseFault]
        var counter = RequestCounter()
        var revision = 0
    }

    private let state: Mutex<State>

    init(_ faults: [ResponseFault]) { state = Mutex(State(faults: faults)) }

    /// A Boolean value that indicates whether no fault is simulated.
    var isEmpty: Bool { state.withLock { $0.faults.isEmpty } }

    /// A number that changes whenever the faults change; `nil` while a fault is simulated.
    var emptyRevision: Int? { state.withLock { $0.faults.isEmpty ? $0.revision : nil } }

    /// Returns the fault that applies to a request, and counts the request; `nil` if there is none.
    func fault(forRequestOf path: String) -> ResponseFault? {
        let (faults, counter) = state.withLock { ($0.faults, $0.counter) }
        let candidates = faults.filter { $0.concerns(path) }
        // Requests are counted only where a number can matter.
        let number = candidates.contains { $0.requests != nil } ? counter.count(path) : 1
        return candidates.first { $0.requests?.contains(number) ?? true }
    }

    /// Replaces the faults; requests are counted from 1 again.
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
        state.withLock { $0 = State(faults: faults, revision: $0.revision &+ 1) }
    }

    /// The faults as JSON.
    var report: ReportValue {
        .fields(["faults": .strings(state.withLock { $0.faults.map(\.text) }), "form": .string(ResponseFault.form)])
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
