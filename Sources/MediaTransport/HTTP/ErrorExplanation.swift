import AsyncHTTPClient
import Foundation
import MediaTiming
import NIOCore
import NIOHTTP1

/// The explanation in the body of an error response, in the form of the server of this package:
/// `{"error":{"code","message"}}`.
package struct ErrorExplanation: Decodable {
    private struct Cause: Decodable {
        let code: String
        let message: String
    }

    private let error: Cause

    /// The maximum size of a body that is read, in bytes; the bodies of this package are much smaller.
    private static let maximumSize = 4 << 10
    /// The maximum time for which a body is awaited; the error is reported without it after this time.
    private static let timeLimit = Duration.seconds(2)

    /// Reads the message from the body of a response.
    ///
    /// The body is read only if its content type is JSON.
    ///
    /// - Parameters:
    ///   - response: A response with an unsuccessful status.
    ///   - time: The source of time.
    /// - Returns: The message; `nil` if the body has another form, is larger than 4 KiB or does not arrive in time.
    static func message(of response: HTTPClientResponse, _ time: any TimeSource) async -> String? {
        guard isJSON(response.headers.first(name: "Content-Type") ?? "") else { return nil }
        let body = response.body
        let bytes = await withTaskGroup(of: [UInt8]?.self, returning: [UInt8]?.self) { group in
            group.addTask { await Self.bytes(of: body) }
            group.addTask {
                try? await time.sleep(for: Self.timeLimit)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        return bytes.flatMap { message(in: $0) }
    }

    /// Returns the message in the body of an error response; `nil` if the body has another form or the message is empty.
    package static func message(in bytes: [UInt8]) -> String? {
        guard let explanation = try? JSONDecoder().decode(ErrorExplanation.self, from: Data(bytes)) else { return nil }
        let message = explanation.error.message.trimmingCharacters(in: .whitespacesAndNewlines)
        return message.isEmpty ? nil : message
    }

    /// Returns a Boolean value that indicates whether a content type is JSON, with or without parameters.
    package static func isJSON(_ contentType: String) -> Bool {
        let type = contentType.split(separator: ";").first.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
        return type.lowercased() == "application/json"
    }

    /// Returns all bytes of a body; `nil` if it is too large or fails.
    private static func bytes(of body: HTTPClientResponse.Body) async -> [UInt8]? {
        var bytes: [UInt8] = []
        do {
            for try await buffer in body {
                guard buffer.readableBytes <= maximumSize - bytes.count else { return nil }
                bytes.append(contentsOf: buffer.readableBytesView)
            }
        } catch {
            return nil
        }
        return bytes
    }
}
