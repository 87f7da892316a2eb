/// An operation whose cost must be linear in the size of its input.
///
/// To add operations of another module: write a file `CostOperation+Topic.swift` with one table, a
/// `static let topic: [CostOperation]`, append the table to ``all``, and the module to the dependencies of `cost-probe` in
/// the manifest. Each entry has a name that begins with the topic and a slash, and a closure that generates the input of
/// a given size and returns what is counted. Give the input the worst shape that the format allows: all entries in one
/// group, all with one name, a required tag missing, one long line beside many short ones.
struct CostOperation {
    /// The name, such as `rules/parts-without-part-inf`.
    let name: String
    /// The number of entries of the smaller input.
    let size: Int
    /// Generates the input for a number of entries, and returns the operation on it.
    let prepare: (_ count: Int) throws -> () throws -> Void

    init(_ name: String, size: Int = 150, _ prepare: @escaping (_ count: Int) throws -> () throws -> Void) {
        self.name = name
        self.size = size
        self.prepare = prepare
    }

    /// All operations.
    static var all: [CostOperation] {
        reading + rules + writing + editing + presentations
    }
}

/// A way to generate a playlist.
struct PlaylistShape {
    let name: String
    /// The lines of a playlist with about a number of entries.
    let lines: (_ count: Int) -> String

    init(_ name: String, _ lines: @escaping (_ count: Int) -> String) {
        self.name = name
        self.lines = lines
    }

    /// The UTF-8 of the playlist.
    func bytes(_ count: Int) -> [UInt8] { Array(("#EXTM3U\n" + lines(count)).utf8) }
}

/// The texts of some numbers, one after the other.
func repeated(_ count: Int, _ text: (Int) -> String) -> String {
    var result = ""
    for number in 0..<count { result += text(number) }
    return result
}
