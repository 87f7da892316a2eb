import Foundation
import Synchronization

/// A program that a test runs in the background, which is terminated when the object is deallocated.
final class Companion: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let process: Process
    private let output = Pipe()
    private let transcript = Transcript()

    private final class Transcript: Sendable {
        let text = Mutex("")
    }

    init(
        _ path: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        without removed: [String] = []
    ) throws {
        process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        var variables = ProcessInfo.processInfo.environment
        for name in removed { variables[name] = nil }
        process.environment = variables.merging(environment) { $1 }
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        let (reading, transcript) = (output.fileHandleForReading, transcript)
        Thread.detachNewThread {
            while case let data = reading.availableData, !data.isEmpty {
                transcript.text.withLock { $0 += String(decoding: data, as: UTF8.self) }
            }
        }
        // Pool threads have all signals blocked, and child processes inherit the mask, so that they could not be
        // terminated.
        var (none, before) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try process.run()
    }

    deinit {
        if process.isRunning { process.terminate() }
    }

    /// The complete lines of output so far.
    var lines: [String] {
        var lines = transcript.text.withLock { $0 }.split(separator: "\n", omittingEmptySubsequences: false).map(
            String.init
        )
        lines.removeLast()
        return lines
    }

    /// Waits for a line that satisfies a condition, for at most ten seconds.
    @discardableResult
    func line(_ isWanted: (String) -> Bool) async throws -> String {
        let end = ContinuousClock.now + .seconds(10)
        while true {
            if let line = lines.first(where: isWanted) { return line }
            guard ContinuousClock.now < end else {
                throw Failure(description: "the line did not come; there were: \(lines)")
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Waits for the end of the program, for at most ten seconds, and returns its exit status.
    func status() async throws -> Int32 {
        let end = ContinuousClock.now + .seconds(10)
        while process.isRunning {
            guard ContinuousClock.now < end else { throw Failure(description: "it does not end") }
            try await Task.sleep(for: .milliseconds(5))
        }
        return process.terminationStatus
    }
}

/// A virtual X display without a screen.
final class VirtualDisplay {
    static let width = 800
    static let height = 600

    /// The paths of the required tools by name, or an empty dictionary if one is missing.
    static let tools: [String: String] = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        var found: [String: String] = [:]
        for name in ["Xvfb", "xdotool", "import"] {
            let path = folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
            guard let path else { return [:] }
            found[name] = path
        }
        return found
    }()

    let name: String
    private let server: Companion

    init() async throws {
        let screen = "\(Self.width)x\(Self.height)x24"
        // Xvfb selects a free display number and prints it.
        server = try Companion(try Self.tool("Xvfb"), ["-displayfd", "1", "-screen", "0", screen, "-nolisten", "tcp"])
        name = ":" + (try await server.line { Int($0) != nil })
    }

    /// Simulates keyboard and mouse input with xdotool.
    func act(_ arguments: String...) async throws {
        let tool = try Companion(try Self.tool("xdotool"), arguments, environment: ["DISPLAY": name])
        guard try await tool.status() == 0 else {
            throw Companion.Failure(description: "xdotool \(arguments) failed")
        }
    }

    /// Takes a screenshot with the red, green and blue values of each pixel.
    func look() async throws -> Screenshot {
        let folder = try TemporaryFolder()
        let tool = try Companion(
            try Self.tool("import"),
            ["-silent", "-window", "root", "-depth", "8", "rgb:\(folder.path)/screen.rgb"],
            environment: ["DISPLAY": name]
        )
        guard try await tool.status() == 0 else { throw Companion.Failure(description: "no screenshot") }
        return Screenshot(bytes: try folder.bytes("screen.rgb"))
    }

    private static func tool(_ name: String) throws -> String {
        guard let path = tools[name] else { throw Companion.Failure(description: "\(name) is not installed") }
        return path
    }
}

/// The pixels of a display.
struct Screenshot {
    let bytes: [UInt8]

    func pixel(_ x: Int, _ y: Int) -> [Int] {
        let at = (y * VirtualDisplay.width + x) * 3
        guard at >= 0, at + 3 <= bytes.count else { return [] }
        return bytes[at..<at + 3].map(Int.init)
    }

    /// Returns a Boolean value that indicates whether a pixel has a color, within a tolerance.
    func shows(_ color: [Int], atX x: Int, y: Int, within tolerance: Int = 4) -> Bool {
        let pixel = pixel(x, y)
        return pixel.count == 3 && zip(pixel, color).allSatisfy { abs($0 - $1) <= tolerance }
    }
}
