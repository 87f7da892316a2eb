import Foundation
import MillstreamTesting

/// The installed curl, as an independent client.
enum Curl {
    struct Outcome {
        var status: Int32
        var bytes: [UInt8]
    }

    private static let program = "/usr/bin/curl"

    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: program) }

    /// Runs curl, and returns its exit status and the file that it wrote.
    ///
    /// - Parameters:
    ///   - address: The address to load, as the last argument.
    ///   - arguments: Additional arguments.
    ///   - start: The initial contents of the file, which curl can resume.
    /// - Returns: The exit status and the bytes.
    /// - Throws: The error of a process that cannot be started.
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
