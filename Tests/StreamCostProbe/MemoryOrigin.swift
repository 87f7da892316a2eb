import Foundation
import MediaTiming
import MediaTransport
import ResourceAddressing
import Synchronization

/// A transport that serves texts at given addresses, and 192 bytes of media at all other addresses.
struct MemoryOrigin: Transport {
    /// The texts by their addresses without queries.
    ///
    /// Each request receives the next of several texts; the last one is repeated.
    let texts: [String: [String]]
    private let counts = RequestCounts()

    init(_ texts: [String: [String]]) { self.texts = texts }

    private final class RequestCounts: Sendable {
        private let counts = Mutex<[String: Int]>([:])

        func next(_ path: String) -> Int {
            counts.withLock { counts in
                defer { counts[path, default: 0] += 1 }
                return counts[path, default: 0]
            }
        }
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let path = String(request.address.text.prefix { $0 != "?" })
        var bytes = [UInt8](repeating: 0x47, count: 192)
        if let versions = texts[path], let last = versions.indices.last {
            bytes = Array(versions[min(counts.next(path), last)].utf8)
        } else if path.hasSuffix(".key") {
            bytes = [UInt8](repeating: 7, count: 16)
        }
        return TransportResponse(
            status: 200,
            headers: [],
            address: request.address,
            expectedLength: Int64(bytes.count),
            body: TransportBody(bytes)
        )
    }
}

/// Runs an asynchronous function, and blocks the current thread until it ends.
func wait<Value: Sendable>(for body: @escaping @Sendable () async throws -> Value) throws -> Value {
    let result = Mutex<Result<Value, any Error>?>(nil)
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        let value: Result<Value, any Error>
        do { value = .success(try await body()) } catch { value = .failure(error) }
        result.withLock { $0 = value }
        done.signal()
    }
    done.wait()
    guard let value = result.withLock({ $0 }) else { fatalError("the function ended without a result") }
    return try value.get()
}
