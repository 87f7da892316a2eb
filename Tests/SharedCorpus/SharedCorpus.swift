public import Foundation

/// Test data by other people, which lies outside the project.
///
/// `MILLSTREAM_SHARED` names its folder. Where it is set, missing data is a failure; where it is not, as on a newcomer's
/// clone, the tests that need it say that they were skipped.
public enum SharedCorpus {
    /// The folder, `nil` where none is named.
    public static let directory: URL? = ProcessInfo.processInfo.environment["MILLSTREAM_SHARED"]
        .flatMap { $0.isEmpty ? nil : URL(fileURLWithPath: $0, isDirectory: true) }

    /// Whether tests can ask for it.
    public static var isNamed: Bool { directory != nil }

    /// A file or folder of the corpus.
    ///
    /// - Throws: ``Missing`` where it is not there.
    public static func url(_ path: String) throws -> URL {
        guard let url = directory?.appendingPathComponent(path), FileManager.default.fileExists(atPath: url.path) else {
            throw Missing(path: path)
        }
        return url
    }

    /// The bytes of a file.
    public static func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: url(path))) }

    /// The files below a folder whose names end in one of `extensions`, in the order of their paths.
    public static func files(below path: String, extensions: Set<String>) throws -> [URL] {
        let folder = try url(path)
        guard let walk = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil) else {
            throw Missing(path: path)
        }
        return walk.compactMap { $0 as? URL }.filter { extensions.contains($0.pathExtension.lowercased()) }
            .sorted { $0.path < $1.path }
    }

    /// Data that the environment promises and that is not there.
    public struct Missing: Error, CustomStringConvertible {
        let path: String

        /// The value as text, for people.
        public var description: String { "MILLSTREAM_SHARED is set, but \(path) is not there" }
    }
}
