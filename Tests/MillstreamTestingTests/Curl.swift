import Foundation
import MillstreamTesting

/// The curl of this machine, as a client that was written by others.
enum Curl {
    struct Outcome {
        var status: Int32
        var bytes: [UInt8]
    }

    private static let program = "/usr/bin/curl"

    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: program) }

    /// Runs curl, and gives its exit status and the file that it wrote.
    ///
    /// - Parameters:
    ///   - address: What to get, as the last argument.
    ///   - arguments: What else to tell curl.
    ///   - start: What the file holds beforehand; curl can go on behind it.
    /// - Returns: The exit status and the bytes.
    /// - Throws: What keeps curl from being run.
    static func get(_ address: String, _ arguments: [String] = [], start: [UInt8]? = nil) async throws -> Outcome {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        if let start { try Data(start).write(to: file) }
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["--silent", "--max-time", "8", "--noproxy", "*", "-o", file.path] + arguments + [address]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let status: Int32 = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        return Outcome(status: status, bytes: (try? Data(contentsOf: file)).map { Array($0) } ?? [])
    }
}
