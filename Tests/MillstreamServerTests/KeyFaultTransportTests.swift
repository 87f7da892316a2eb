import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests the faults of requests for keys, with a clock that does not wait.
@Suite struct KeyFaultTransportTests {
    /// An origin that sends one key.
    private struct Origin: Transport {
        static let key = Array("0123456789abcdef".utf8)

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            TransportResponse(to: request, expectedLength: Int64(Self.key.count), body: TransportBody(Self.key))
        }
    }

    private let time = ManualTime()

    /// Returns what a player receives, as text, or the code of the error.
    private func load(_ kind: TransportRequest.Kind, _ transport: KeyFaultTransport) async throws -> String {
        let request = TransportRequest(ResourceAddress("https://example.com/k.key"), kind: kind)
        var bytes: [UInt8] = []
        do {
            let response = try await transport.send(request)
            for try await buffer in response.body { bytes += Array(buffer.readableBytesView) }
            #expect(response.expectedLength == Int64(bytes.count))
        } catch let error as TransportError {
            return error.code.rawValue + (error.status.map { " \($0)" } ?? "")
        }
        return String(decoding: bytes, as: UTF8.self).replacing("\0", with: "-")
    }

    private func transport(_ fault: String) throws -> KeyFaultTransport {
        let settings = FaultSettings([try #require(ResponseFault(fault))], time: time)
        return KeyFaultTransport(base: Origin(), settings: settings, path: { $0.path })
    }

    @Test(
        arguments: [
            ("status=503", "http-status 503", 0), ("body=short", "short", 0), ("corrupt=4", "0123------------", 0),
            ("truncate=8", "connection-lost", 0), ("reset=0", "connection-lost", 0),
            ("truncate=99", "0123456789abcdef", 0),
            ("stall=8", "connection-lost", 300), ("timeout", "connection-lost", 300),
            ("delay=2.5", "0123456789abcdef", 2.5),
            ("rate=64", "0123456789abcdef", 2), ("path=*.ts&status=503", "0123456789abcdef", 0),
        ] as [(String, String, Double)]
    )
    func faultsApplyToKeys(fault: String, received: String, seconds: Double) async throws {
        #expect(try await load(.key, try transport(fault)) == received)
        #expect(time.now == .seconds(seconds))
    }

    @Test func faultsCountRequestsForKeysOnly() async throws {
        let faulty = try transport("requests=2&status=404")
        let key = String(decoding: Origin.key, as: UTF8.self)
        for (kind, received) in [
            (.key, key), (.segment, key), (.key, "http-status 404"), (.key, key),
        ] as [(TransportRequest.Kind, String)] {
            #expect(try await load(kind, faulty) == received)
        }
    }
}
