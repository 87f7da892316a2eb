/// An operation whose cost must be linear in the size of its input.
///
/// To add operations, write a file `CostOperation+Topic.swift` in the program that links the required modules
/// (`cost-probe` for formats, `stream-cost-probe` for operations that require transports, storage or the engine). The
/// file contains one table, a `static let topic: [CostOperation]`, which is appended to the operations of the program.
/// Each entry has a name that begins with the topic and a slash, and a closure that generates the input of a given size
/// and returns the operation to measure. The input must have the worst shape that the format allows: all entries in one
/// group, all with the same name, without a required tag, or one long line and many short ones.
package struct CostOperation {
    /// The name, such as `rules/parts-without-part-inf`.
    package let name: String
    /// The number of entries of the smaller input.
    package let size: Int
    /// A closure that generates the input for a number of entries and returns the operation on it.
    package let prepare: (_ count: Int) throws -> () throws -> Void

    /// Creates an operation.
    package init(_ name: String, size: Int = 150, _ prepare: @escaping (_ count: Int) throws -> () throws -> Void) {
        self.name = name
        self.size = size
        self.prepare = prepare
    }
}

/// A generator of playlists with a certain shape.
package struct PlaylistShape {
    /// The name, such as `variants-of-one-group`.
    package let name: String
    /// A closure that returns the lines of a playlist with about the given number of entries.
    package let lines: (_ count: Int) -> String

    /// Creates a shape.
    package init(_ name: String, _ lines: @escaping (_ count: Int) -> String) {
        self.name = name
        self.lines = lines
    }

    /// Returns the playlist in UTF-8.
    package func bytes(_ count: Int) -> [UInt8] { Array(("#EXTM3U\n" + lines(count)).utf8) }
}

/// A generator of inputs with a certain shape for one of the fuzz targets.
package struct InputShape {
    /// The name of the fuzz target.
    package let reader: String
    /// The name, such as `cues-of-one-time`.
    package let name: String
    /// The number of entries of the smaller input.
    package let size: Int
    /// A closure that returns an input with about the given number of entries.
    package let bytes: (_ count: Int) -> [UInt8]

    /// Creates a shape of binary input.
    package init(_ reader: String, _ name: String, size: Int = 150, _ bytes: @escaping (_ count: Int) -> [UInt8]) {
        self.reader = reader
        self.name = name
        self.size = size
        self.bytes = bytes
    }

    /// Creates a shape of text input.
    package init(_ reader: String, _ name: String, size: Int = 150, text: @escaping (_ count: Int) -> String) {
        self.init(reader, name, size: size) { Array(text($0).utf8) }
    }
}

/// Returns the concatenated texts for the numbers from 0 up to, but not including, `count`.
package func repeated(_ count: Int, _ text: (Int) -> String) -> String {
    var result = ""
    for number in 0..<count { result += text(number) }
    return result
}

/// Returns the concatenated bytes for the numbers from 0 up to, but not including, `count`.
package func repeatedBytes(_ count: Int, _ bytes: (Int) -> [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    for number in 0..<count { result += bytes(number) }
    return result
}
