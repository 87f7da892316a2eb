import Foundation
import Testing

/// A certificate of the host 127.0.0.1 for tests.
enum SelfSignedCertificate {
    /// Writes a certificate and its key to files in a folder.
    static func make(_ name: String, in folder: URL) throws -> (certificate: URL, key: URL) {
        let files = (folder.appendingPathComponent(name + ".pem"), folder.appendingPathComponent(name + ".key"))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-days", "2", "-subj", "/CN=127.0.0.1", "-out", files.0.path, "-keyout", files.1.path,
        ]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return files
    }
}
