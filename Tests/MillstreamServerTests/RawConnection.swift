import Dispatch
import Foundation

/// A connection to a local server that sends exactly the given bytes.
final class RawConnection: Sendable {
    private let descriptor: Int32

    /// A system error.
    struct Failure: Error {
        let code: Int32
    }

    /// Connects to a port of the loopback address.
    ///
    /// - Parameters:
    ///   - port: The port.
    ///   - receiveBuffer: The size of the receive buffer in bytes, or `nil` for the default of the system.
    /// - Throws: ``Failure`` if the connection is refused.
    init(port: Int, receiveBuffer: Int32? = nil) throws {
        #if os(Linux)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        // The time limits of the server are much shorter.
        var limit = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure(code: errno) }
    }

    deinit { close(descriptor) }

    /// Sends text, and ignores that the server may have closed the connection.
    func send(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Reads until the server closes the connection.
    ///
    /// - Throws: ``Failure`` with `EAGAIN` if the server does not close the connection within 30 seconds.
    func readToEnd() async throws -> String { try await read { _ in false } }

    /// Reads until the given text is received, or the server closes the connection.
    func read(until text: String) async throws -> String {
        try await read { String(decoding: $0, as: UTF8.self).contains(text) }
    }

    private func read(until isComplete: @escaping @Sendable ([UInt8]) -> Bool) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { [self] in
                var bytes: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 65_536)
                while !isComplete(bytes) {
                    let count = recv(descriptor, &buffer, buffer.count, 0)
                    if count > 0 {
                        bytes += buffer[..<count]
                    } else if count == 0 || errno == ECONNRESET {
                        break
                    } else if errno != EINTR {
                        return continuation.resume(throwing: Failure(code: errno))
                    }
                }
                continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
            }
        }
    }
}

/// A response as received.
struct RawResponse {
    let status: Int
    let head: String
    let body: String

    init(_ text: String) {
        let end = text.range(of: "\r\n\r\n")
        head = String(text[..<(end?.lowerBound ?? text.endIndex)])
        body = end.map { String(text[$0.upperBound...]) } ?? ""
        status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }

    /// Returns the value of a header field, or `nil` if it is missing.
    func field(_ name: String) -> String? {
        head.split(separator: "\r\n").dropFirst().lazy
            .map { $0.split(separator: ":", maxSplits: 1) }
            .first { $0.count == 2 && $0[0].lowercased() == name.lowercased() }
            .map { $0[1].trimmingCharacters(in: .whitespaces) }
    }

    /// The code of an error response, or `nil` for other responses.
    var errorCode: String? { body.firstMatch(of: /"error":\{"code":"([a-z-]+)"/).map { String($0.1) } }
}
