package import Foundation

/// The sample streams that `Scripts/make-samples` generates.
package enum Samples {
    /// The folder with the sample streams; `nil` if they have not been generated.
    package static let directory: URL? = {
        let environment = ProcessInfo.processInfo.environment["MILLSTREAM_SAMPLES_DIRECTORY"]
        let path = environment ?? output(of: packageDirectory.appendingPathComponent("Scripts/make-samples"))
        guard let path, FileManager.default.fileExists(atPath: path + "/COMPLETE") else { return nil }
        return URL(fileURLWithPath: path, isDirectory: true)
    }()

    /// The frame rate of every sample stream, in frames per second.
    package static let frameRate = 30.0

    /// The root folder of the package.
    package static let packageDirectory = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func output(of script: URL) -> String? {
        let process = Process()
        process.executableURL = script
        process.arguments = ["--print-directory"]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self).split(separator: "\n").last.map(String.init)
    }
}
