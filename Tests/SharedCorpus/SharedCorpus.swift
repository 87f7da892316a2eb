public import Foundation

/// The shared corpus of third-party test data, which is not part of the package.
///
/// `MILLSTREAM_SHARED` names its folder. If it is set, missing data is a failure; if it is not set, the tests that
/// require the data are skipped and say so.
public enum SharedCorpus {
    /// The folder of the corpus; `nil` if none is configured.
    public static let directory: URL? = ProcessInfo.processInfo.environment["MILLSTREAM_SHARED"]
        .flatMap { $0.isEmpty ? nil : URL(fileURLWithPath: $0, isDirectory: true) }

    /// A Boolean value that indicates whether a folder is configured.
    public static var isNamed: Bool { directory != nil }

    /// Returns the URL of a file or folder of the corpus.
    ///
    /// - Throws: ``Missing`` if it does not exist.
    public static func url(_ path: String) throws -> URL {
        guard let url = directory?.appendingPathComponent(path), FileManager.default.fileExists(atPath: url.path) else {
            throw Missing(path: path)
        }
        return url
    }

    /// Returns the bytes of a file.
    public static func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: url(path))) }

    /// Returns the files in a folder and its subfolders whose names end in one of `extensions`, sorted by path.
    public static func files(below path: String, extensions: Set<String>) throws -> [URL] {
        let folder = try url(path)
        guard let walk = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil) else {
            throw Missing(path: path)
        }
        return walk.compactMap { $0 as? URL }.filter { extensions.contains($0.pathExtension.lowercased()) }
            .sorted { $0.path < $1.path }
    }

    /// An error that indicates that data of the configured corpus does not exist.
    public struct Missing: Error, CustomStringConvertible {
        let path: String

        /// A description of the error.
        public var description: String { "MILLSTREAM_SHARED is set, but \(path) is not there" }
    }
}
