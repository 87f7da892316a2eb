import Foundation

/// Media files that ffmpeg creates for one test.
struct Fixtures: ~Copyable {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("millstream-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func bytes(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: folder.appendingPathComponent(name))) }

    /// Runs ffmpeg in the directory; arguments are separated by spaces.
    @discardableResult
    func make(_ arguments: String) throws -> String { try Tool.ffmpeg(arguments, in: folder) }

    /// Four seconds of moving video and a tone.
    static let source = "-f lavfi -i testsrc2=s=192x108:r=25:d=4 -f lavfi -i sine=440:r=48000:d=4"
}
