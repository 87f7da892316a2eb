import Foundation
import HTTPTypes

/// The body of a request that replaces the simulated faults.
package struct FaultOrder: Sendable, Hashable {
    private struct Parameters: Decodable {
        let faults: [String]
    }

    /// The maximum number of faults, each of which is compared with the path of each request.
    package static let maximumCount = 32

    /// The faults, in order.
    package let faults: [ResponseFault]

    /// Creates an order from JSON.
    ///
    /// - Parameter bytes: The body.
    /// - Throws: `ServerError` with the status 400 if the body is not an order, has an invalid fault or too many faults.
    package init(parsing bytes: [UInt8]) throws {
        guard let parameters = try? JSONDecoder().decode(Parameters.self, from: Data(bytes)) else {
            throw ServerError(.badRequest, "invalid-body", "the body must contain faults, a list of strings")
        }
        try self.init(parameters.faults)
    }

    /// Creates an order from the texts of the faults.
    ///
    /// - Throws: ``ServerError`` with the status 400 for an invalid fault or too many faults.
    init(_ texts: [String]) throws {
        guard texts.count <= Self.maximumCount else {
            throw ServerError(.badRequest, "too-many-faults", "at most \(Self.maximumCount) faults can be simulated")
        }
        faults = try texts.map { (text: String) throws -> ResponseFault in
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
    }
}
