/// An operation whose cost must be linear in the size of its input.
///
/// To add operations: write a file `CostOperation+Topic.swift` in the program that has the modules (`cost-probe` for
/// formats, `stream-cost-probe` for what needs transports, storage or the engine) with one table, a
/// `static let topic: [CostOperation]`, and append the table to the operations of the program. Each entry has a name that
/// begins with the topic and a slash, and a closure that generates the input of a given size and returns what is counted.
/// Give the input the worst shape that the format allows: all entries in one group, all with one name, a required tag
/// missing, one long line beside many short ones.
package struct CostOperation {
    /// The name, such as `rules/parts-without-part-inf`.
    package let name: String
    /// The number of entries of the smaller input.
    package let size: Int
    /// Generates the input for a number of entries, and returns the operation on it.
    package let prepare: (_ count: Int) throws -> () throws -> Void

    /// Creates an operation.
    package init(_ name: String, size: Int = 150, _ prepare: @escaping (_ count: Int) throws -> () throws -> Void) {
        self.name = name
        self.size = size
        self.prepare = prepare
    }
}

/// A way to generate a playlist.
package struct PlaylistShape {
    /// The name, such as `variants-of-one-group`.
    package let name: String
    /// The lines of a playlist with about a number of entries.
    package let lines: (_ count: Int) -> String

    /// Creates a shape.
    package init(_ name: String, _ lines: @escaping (_ count: Int) -> String) {
        self.name = name
        self.lines = lines
    }

    /// The UTF-8 of the playlist.
    package func bytes(_ count: Int) -> [UInt8] { Array(("#EXTM3U\n" + lines(count)).utf8) }
}

/// A way to generate the input of one of the readers that the fuzzer knows too.
package struct InputShape {
    /// The name of the reader.
    package let reader: String
    /// The name, such as `cues-of-one-time`.
    package let name: String
    /// The number of entries of the smaller input.
    package let size: Int
    /// An input with about a number of entries.
    package let bytes: (_ count: Int) -> [UInt8]

    /// Creates a shape of bytes.
    package init(_ reader: String, _ name: String, size: Int = 150, _ bytes: @escaping (_ count: Int) -> [UInt8]) {
        self.reader = reader
        self.name = name
        self.size = size
        self.bytes = bytes
    }

    /// Creates a shape of text.
    package init(_ reader: String, _ name: String, size: Int = 150, text: @escaping (_ count: Int) -> String) {
        self.init(reader, name, size: size) { Array(text($0).utf8) }
    }
}

/// Returns the texts of some numbers, one after the other.
package func repeated(_ count: Int, _ text: (Int) -> String) -> String {
    var result = ""
    for number in 0..<count { result += text(number) }
    return result
}

/// Returns the bytes of some numbers, one after the other.
package func repeatedBytes(_ count: Int, _ bytes: (Int) -> [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    for number in 0..<count { result += bytes(number) }
    return result
}
