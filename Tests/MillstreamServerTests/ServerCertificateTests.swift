import Foundation
import Testing

@testable import MillstreamServer

/// Tests the limits for connections of a server with a certificate.
@Suite(.timeLimit(.minutes(10))) struct ServerCertificateTests {
    private func certificate(in folder: URL) throws -> ServerCertificate {
        let files = try SelfSignedCertificate.make("a", in: folder)
        return try ServerCertificate(certificate: files.certificate, key: files.key)
    }

    @Test func clientsThatDoNotCompleteTheHandshakeAreDisconnected() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("certificate-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let certificate = try certificate(in: folder)
        let limits = ConnectionLimits(maximumConnections: 4, keepAliveTimeout: .milliseconds(300))
        try await ServerStage.run(
            connections: limits,
            configure: { options, _ in options.certificate = certificate },
            { stage in
                // Nothing, the beginning of a ClientHello, and a request without TLS.
                for bytes in ["", "\u{16}\u{3}\u{1}\u{1}\u{0}", "GET / HTTP/1.1\r\n\r\n"] {
                    let connections = try (0..<4).map { _ in try RawConnection(port: stage.port) }
                    for connection in connections { connection.send(bytes) }
                    for connection in connections {
                        let response = try? await connection.readToEnd()
                        #expect(response.map { !$0.contains("HTTP/1.1 200") } ?? true)
                    }
                }
            }
        )
    }
}
