/// An output file with bytes that are collected before they are written together.
struct CollectedOutput: ~Copyable {
    /// The file; `nil` before it is created, and after it was taken or discarded.
    private var file: OutputFile?
    private var hasContent = false
    /// The bytes that are not written yet.
    var pending: [UInt8]

    /// Creates an output with its first bytes; without a file, nothing is written.
    init(_ file: consuming OutputFile? = nil, pending: [UInt8] = []) {
        self.file = file
        self.pending = pending
    }

    /// Sets the file to which bytes are written from now on.
    mutating func begin(_ file: consuming OutputFile) { self.file = consume file }

    /// Writes the collected bytes.
    ///
    /// - Throws: ``OutputError``; a file without content is removed then, because it is of no use.
    mutating func write() throws(OutputError) {
        guard !pending.isEmpty else { return }
        do throws(OutputError) {
            switch file {
            case .some(let file): try file.write(pending)
            case .none: return
            }
        } catch {
            if !hasContent, let begun = file.take() { begun.discard() }
            throw error
        }
        hasContent = true
        pending.removeAll(keepingCapacity: true)
    }

    /// Returns the file, which the caller finishes; `nil` if there is none.
    mutating func takeFile() -> OutputFile? { file.take() }
}
