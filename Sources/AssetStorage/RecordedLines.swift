/// The lines of a recorded segment, with the URLs of the origin and with the names of the package.
struct RecordedLines {
    /// The lines in the catalog.
    private(set) var origin = ""
    /// The lines in the local playlist.
    private(set) var local = ""

    /// Adds a line, which can have another form in the local playlist.
    mutating func add(_ line: String, local other: String? = nil) {
        origin += line + "\n"
        local += (other ?? line) + "\n"
    }

    /// Adds a line that the local playlist does not have.
    mutating func addAtOrigin(_ line: String) { origin += line + "\n" }

    /// Adds a line that the local playlist has only if a condition is met.
    mutating func add(_ line: String, isLocal: Bool) {
        if isLocal { add(line) } else { addAtOrigin(line) }
    }
}
