import AsyncHTTPClient
import Foundation
import MillstreamTesting
import NIOCore
import NIOHTTP1
import NIOSSL
import Testing

/// Tests `millstream serve` with a certificate.
@Suite(.tags(.endToEnd), .timeLimit(.minutes(5))) struct ServeTLSTests {
    /// Runs a program, and returns its status.
    private func run(_ program: String, _ arguments: [String]) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Creates a certificate for 127.0.0.1 and its key in a folder.
    private func makeCertificate(_ name: String, in folder: URL) throws -> (certificate: String, key: String) {
        let files = (folder.path + "/\(name).pem", folder.path + "/\(name).key")
        let status = try run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-out", files.0, "-keyout", files.1,
            ]
        )
        try #require(status == 0)
        return files
    }

    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tls-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    @Test func streamsAreServedOverHTTPS() async throws {
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n#EXT-X-ENDLIST\n"
        try await withFolder { folder in
            let files = try makeCertificate("own", in: folder)
            try await MisbehavingServer.withServer(["/a.m3u8": .text(playlist)]) { origin in
                let program = try RunningProgram([
                    "serve", "--port", "0", "--library", folder.path + "/library", "--allow-host", "127.0.0.1",
                    "--tls-certificate", files.certificate, "--tls-key", files.key,
                ])
                let server = try await program.match("(https://[0-9.:]+)/")
                var tls = TLSConfiguration.makeClientConfiguration()
                tls.trustRoots = .file(files.certificate)
                let client = HTTPClient(configuration: HTTPClient.Configuration(tlsConfiguration: tls))
                func ask(_ path: String, _ fields: [(String, String)] = []) async throws -> (UInt, String) {
                    var request = HTTPClientRequest(url: server + path)
                    for (name, value) in fields { request.headers.add(name: name, value: value) }
                    let response = try await client.execute(request, timeout: .seconds(30))
                    return (response.status.code, String(buffer: try await response.body.collect(upTo: 1 << 20)))
                }
                do {
                    let edited = try await ask("/play.m3u8?absolute&url=" + origin.address("/a.m3u8"))
                    #expect(edited.0 == 200 && edited.1.contains("\n\(server)/segment/a.ts?url="), "\(edited.1)")
                    // The origin of a page of this server has its scheme.
                    #expect(try await ask("/api/library", [("Origin", server)]).0 == 200)
                    let plain = server.replacing("https:", with: "http:")
                    #expect(try await ask("/api/library", [("Origin", plain)]).0 == 403)
                    #expect(try await ask("/").0 == 200)
                } catch {
                    try await client.shutdown()
                    throw error
                }
                try await client.shutdown()
                func curl(_ options: String...) throws -> Int32 {
                    try run(
                        "curl",
                        ["-sf", "--cacert", files.certificate, server + "/health", "-o", "/dev/null"] + options
                    )
                }
                #expect(try curl() == 0)
                // 35: the handshake failed.
                #expect(try curl("--tls-max", "1.1") == 35)
                program.send(SIGTERM)
                #expect(try await program.finish() == 0)
            }
        }
    }

    @Test func unusableCertificatesAreErrors() async throws {
        try await withFolder { folder in
            let (own, other) = (try makeCertificate("own", in: folder), try makeCertificate("other", in: folder))
            let empty = folder.path + "/empty.pem"
            try Data().write(to: URL(fileURLWithPath: empty))
            for (options, status, text) in [
                (["--tls-certificate", own.certificate], 64, "must be given together"),
                (["--tls-key", own.key], 64, "must be given together"),
                (["--tls-certificate", own.certificate, "--tls-key", other.key], 1, "is not that of the certificate"),
                (["--tls-certificate", empty, "--tls-key", own.key], 1, "contains no certificate"),
                (["--tls-certificate", own.key, "--tls-key", own.key], 1, "contains no certificate"),
                (["--tls-certificate", own.certificate, "--tls-key", own.certificate], 1, "contains no private key"),
                (["--tls-certificate", folder.path + "/none", "--tls-key", own.key], 1, "cannot be read"),
                (["--tls-certificate", own.certificate, "--tls-key", folder.path], 1, "cannot be read"),
            ] {
                let library = folder.path + "/library"
                let program = try RunningProgram(["serve", "--port", "0", "--library", library] + options)
                #expect(try await program.finish() == Int32(status), "\(options)")
                #expect(program.standardError.contains(text), "\(options): \(program.standardError)")
            }
        }
    }
}
