import Foundation

// All output of the command line uses StandardOutput and StandardError, which handle closed pipes and escape external
// text. The declarations here hide all other ways to write, so that their use does not compile. `Scripts/check-output`
// verifies that.

@available(*, unavailable, message: "Use StandardOutput.writeLine(_:).")
func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {}

@available(*, unavailable, message: "Use string interpolation.")
func print<Target: TextOutputStream>(
    _ items: Any...,
    separator: String = " ",
    terminator: String = "\n",
    to output: inout Target
) {}

@available(*, unavailable, message: "Use StandardError.write(_:).")
func debugPrint(_ items: Any..., separator: String = " ", terminator: String = "\n") {}

@available(*, unavailable, message: "Use StandardError.write(_:).")
@discardableResult func dump<Value>(
    _ value: Value,
    name: String? = nil,
    indent: Int = 0,
    maxDepth: Int = .max,
    maxItems: Int = .max
) -> Value { value }

@available(*, unavailable, message: "Use InputFile.")
func readLine(strippingNewline: Bool = true) -> String? { nil }

// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, unavailable, message: "Use StandardError.write(_:).")
func NSLog(_ format: String, _ arguments: any CVarArg...) {}

@available(*, unavailable, message: "Use OutputDescriptor.")
func write(_ descriptor: Int32, _ bytes: UnsafeRawPointer!, _ count: Int) -> Int { 0 }

@available(*, unavailable, message: "Use OutputDescriptor.")
func fputs(_ text: UnsafePointer<CChar>!, _ file: Any!) -> Int32 { 0 }

@available(*, unavailable, message: "Use OutputDescriptor.")
func puts(_ text: UnsafePointer<CChar>!) -> Int32 { 0 }

@available(*, unavailable, message: "Use OutputDescriptor.")
func putchar(_ character: Int32) -> Int32 { 0 }

@available(*, unavailable, message: "Use OutputDescriptor.")
func perror(_ text: UnsafePointer<CChar>!) {}

@available(*, unavailable, message: "Use OutputDescriptor.")
func fwrite(_ bytes: UnsafeRawPointer!, _ size: Int, _ count: Int, _ file: Any!) -> Int { 0 }

@available(*, unavailable, message: "Use OutputDescriptor.")
var stdout: Int { 0 }

@available(*, unavailable, message: "Use OutputDescriptor.")
var stderr: Int { 0 }

// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, unavailable, message: "Use OutputDescriptor.results.")
var STDOUT_FILENO: Int32 { 1 }

// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, unavailable, message: "Use OutputDescriptor.diagnostics.")
var STDERR_FILENO: Int32 { 2 }

/// Hides Foundation's type, whose members write to the standard descriptors.
@available(*, unavailable, message: "Use StandardOutput, StandardError, OutputDescriptor or InputFile.")
enum FileHandle {}

/// Hides the log handler of swift-log, which does not escape text.
@available(*, unavailable, message: "Use TerminalLogHandler.")
enum StreamLogHandler {}
