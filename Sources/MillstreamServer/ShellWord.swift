/// A word of a command that a user copies to a shell.
struct ShellWord {
    /// The word, quoted if the shell would change or divide it.
    let text: String

    /// Creates the word for an argument.
    init(_ argument: String) {
        let isPlain = argument.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                true
            default: false
            }
        }
        let quoted = argument.replacing("'", with: #"'\''"#)
        text = isPlain && !argument.isEmpty ? argument : "'\(quoted)'"
    }
}
