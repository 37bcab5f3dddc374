# Usage: formula.rb FORMULA PREFIX
# Installs what a formula of Homebrew says in PREFIX and runs its test, with stand-ins for what Homebrew gives to formulas. The
# libraries and the tools are those of this machine.
require 'digest'
require 'pathname'
require 'tmpdir'

class Formula
  class << self
    attr_reader :facts, :test_block

    def depends_on(what) = (@depends ||= []) << what
    def test(&block) = @test_block = block
    %i[desc homepage url sha256 license].each do |name|
      define_method(name) { |text| (@facts ||= {})[name] = text }
    end
  end

  def initialize(prefix) = @prefix = Pathname(prefix)
  def bin = @prefix/'bin'
  def pkgshare = @prefix/'share/recsort'
  def std_cmake_args = ["-DCMAKE_INSTALL_PREFIX=#{@prefix}", '-DCMAKE_INSTALL_LIBDIR=lib', '-DCMAKE_BUILD_TYPE=Release']

  def system(*words)
    Kernel.system(*words.map(&:to_s)) or abort "#{words.join(' ')}: failed"
  end
end

formula, prefix = ARGV
load File.expand_path(formula)
archive = Recsort.facts[:url].delete_prefix('file://')
abort 'The checksum is another' unless Digest::SHA256.file(archive).hexdigest == Recsort.facts[:sha256]
made = Recsort.new(prefix)
Dir.mktmpdir do |folder|
  made.system 'tar', '-C', folder, '-xzf', archive
  Dir.chdir(Dir["#{folder}/*"].first) { made.install }
end
Dir.mktmpdir { |folder| Dir.chdir(folder) { made.instance_eval(&Recsort.test_block) } }
