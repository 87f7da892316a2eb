package import Foundation

/// The seeds and dictionaries of fuzz targets.
package struct FuzzFiles: Sendable {
    private let folder: URL

    /// Creates an accessor for the files in a folder.
    ///
    /// - Parameter folder: A folder with `Seeds` and `Dictionaries`.
    package init(folder: URL) {
        self.folder = folder
    }

    /// Returns the seeds of a target, sorted by path.
    ///
    /// - Throws: The error of the file system, for example if the target has no seeds of its own.
    package func seeds(of target: FuzzTarget) throws -> [[UInt8]] {
        try ([target.name] + target.furtherSeeds).flatMap { name in
            let folder = folder.appendingPathComponent("Seeds/\(name)")
            return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { file in
                [UInt8](try Data(contentsOf: folder.appendingPathComponent(file)))
            }
        }
    }

    /// Returns the dictionary tokens of a target; empty if it has no dictionary.
    ///
    /// - Throws: The error of the file system if the dictionary cannot be read.
    package func tokens(of target: FuzzTarget) throws -> [[UInt8]] {
        let file = folder.appendingPathComponent("Dictionaries/\(target.name).dict")
        guard FileManager.default.fileExists(atPath: file.path) else { return [] }
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { Self.token($0) }
    }

    /// Parses a line of a dictionary in the format of libFuzzer: `"text"` with the escapes `\\`, `\"` and `\xHH`.
    private static func token(_ line: Substring) -> [UInt8]? {
        guard line.first != "#", let first = line.utf8.firstIndex(of: UInt8(ascii: "\"")),
            let last = line.utf8.lastIndex(of: UInt8(ascii: "\"")), first < last
        else { return nil }
        var token: [UInt8] = []
        var rest = line.utf8[line.utf8.index(after: first)..<last]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() else {
                token.append(byte)
                continue
            }
            if escaped == UInt8(ascii: "x"),
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                token.append(value)
                rest = rest.dropFirst(2)
            } else {
                token.append(escaped)
            }
        }
        return token
    }
}
